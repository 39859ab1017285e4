/** Where the server's certificate comes from: files that an operator replaces, or an authority of our own. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type CertificatePair, isServerName, makeAuthority, makeServerCertificate } from './certificate.ts'

export type TlsOptions =
  /** PEM files, read again when they change. */
  | { readonly kind: 'files'; readonly cert: string; readonly key: string }
  /** An authority made on first use; `names` are further names the server is reached by. */
  | { readonly kind: 'auto'; readonly names: readonly string[] }

export interface Certificates {
  readonly current: CertificatePair
  /** The authority to trust, in PEM, where it is ours. */
  readonly authority: string | undefined
  /** Calls back with each pair that takes the place of the current one. */
  onRenewal(renewed: (pair: CertificatePair) => void): void
  close(): void
}

export interface TlsContext {
  /** Where an authority is kept; undefined keeps it in memory only. */
  readonly folder: string | undefined
  /** Told what an operator should know. */
  readonly warn: (text: string) => void
}

export function openCertificates(options: TlsOptions, context: TlsContext): Certificates {
  return options.kind === 'files' ? openFiles(options, context) : openAuthority(options.names, context)
}

/** Names under which a service on this machine is usually reached, also from its containers. */
const localNames = ['localhost', '127.0.0.1', '::1', 'host.docker.internal', hostname()]

/** How often files are looked at. Asking for their state works where links are swapped and on network disks. */
const lookMs = 1000

function openFiles({ cert, key }: TlsOptions & { kind: 'files' }, { warn }: TlsContext): Certificates {
  let current = readPair(cert, key)
  let renew: ((pair: CertificatePair) => void) | undefined
  for (const file of [cert, key]) watchFile(file, { interval: lookMs, persistent: false }, reload)
  return {
    get current() {
      return current
    },
    authority: undefined,
    onRenewal: (renewed) => {
      renew = renewed
    },
    close() {
      for (const file of [cert, key]) unwatchFile(file, reload)
    },
  }

  function reload(): void {
    try {
      const pair = readPair(cert, key)
      if (pair.cert === current.cert && pair.key === current.key) return
      current = pair
      renew?.(pair)
    } catch (error) {
      // The two files are rarely replaced in one moment: the second change comes back here.
      warn(`the earlier certificate stays in use: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

/** A pair that fits together, or an error that says what does not. */
function readPair(certFile: string, keyFile: string): CertificatePair {
  const [cert, key] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')]
  const certificate = parsed(certFile, () => new X509Certificate(cert))
  const privateKey = parsed(keyFile, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`the key in ${keyFile} is not that of the certificate in ${certFile}`)
  }
  return { cert, key }
}

function parsed<Value>(file: string, parse: () => Value): Value {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${file} is not readable as PEM`, { cause: error })
  }
}

/** Well within the life of a server certificate, and short enough for a timer. */
const renewMs = 20 * 86_400_000

/** The authority is kept; server certificates are made at each start and are never on disk. */
function openAuthority(given: readonly string[], { folder }: TlsContext): Certificates {
  const wrong = given.find((name) => !isServerName(name))
  if (wrong !== undefined) throw new Error(`'${wrong}' is neither a host name nor an address`)
  const names = [...new Set([...localNames.filter(isServerName), ...given])]
  const authority = folder === undefined ? newAuthority() : keptAuthority(folder)
  const authorityKey = createPrivateKey(authority.key)
  let current = makeServerCertificate(authority, authorityKey, names, Date.now())
  let renew: ((pair: CertificatePair) => void) | undefined
  const timer = setInterval(() => {
    current = makeServerCertificate(authority, authorityKey, names, Date.now())
    renew?.(current)
  }, renewMs).unref()
  return {
    get current() {
      return current
    },
    authority: authority.cert,
    onRenewal: (renewed) => {
      renew = renewed
    },
    close: () => clearInterval(timer),
  }
}

/** The file to trust, in the folder of an authority. */
export const authorityFile = 'ca.pem'
const authorityKeyFile = 'ca-key.pem'

function keptAuthority(folder: string): CertificatePair {
  if (!existsSync(folder)) writeAuthority(folder)
  const pair = readPair(join(folder, authorityFile), join(folder, authorityKeyFile))
  if (new Date(new X509Certificate(pair.cert).validTo).getTime() < Date.now()) {
    throw new Error(
      `the authority in ${folder} has expired: remove the folder, start again and trust the new one`,
    )
  }
  return pair
}

/** Written whole and then named: of two processes that start at once, the second takes the first one's. */
function writeAuthority(folder: string): void {
  const draft = `${folder}.${process.pid}`
  const { cert, key } = newAuthority()
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(join(draft, authorityKeyFile), key, { mode: 0o600, flush: true })
  writeFileSync(join(draft, authorityFile), cert, { flush: true })
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}

function newAuthority(): CertificatePair {
  // A common name has at most 64 characters.
  const machine = hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 40)
  return makeAuthority(`Partita authority of ${machine}`, Date.now())
}
