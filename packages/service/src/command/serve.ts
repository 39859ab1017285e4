/** `partita serve`: runs the service until it is told to stop. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { developmentAccount } from '../auth/accounts.ts'
import { type LogEntry, type RunningService, startService } from '../service.ts'
import { optionLines, UsageError } from './options.ts'
import { parseServeOptions, type ServeOptions, serveOptions, variableOf } from './serve-options.ts'
import { closeAsked, isWorker, leave, startWorkers, tellServing } from './workers.ts'

export const serveHelp = helpText()

/** What a loss of power may cost, by durability. A crash of the process alone costs nothing in any of them. */
const durabilityNotes = {
  sync: 'every acknowledged write is on disk',
  interval:
    'written to disk every second; a power failure may cost the last second, and in bad luck the file',
  memory: 'written to disk when the system likes; a power failure may cost everything',
} as const

const loopback = /^(?:127\.|::1$|localhost$)/

/** Resolves with the exit code once the service has stopped. */
export async function serve(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  try {
    const options = parseServeOptions(argv, environment)
    if (options.help) {
      console.log(serveHelp)
      return 0
    }
    if (isWorker) return await serveOne(options)
    if (options.readyFile !== undefined) ownReadyFile(options.readyFile)
    const stopped = stopSignal()
    const service = options.workers > 1 ? await startWorkers(options.workers) : await start(options)
    try {
      announce(service, options)
      await stopped
    } finally {
      await service.close()
    }
    return 0
  } catch (error) {
    console.error(`partita: ${explain(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function start(options: ServeOptions): Promise<RunningService> {
  return startService({ ...options, log: options.logRequests ? logRequest : ignore, warn })
}

/** One of several processes: the first of them speaks for all. */
async function serveOne(options: ServeOptions): Promise<number> {
  try {
    const service = await start(options)
    const asked = closeAsked()
    tellServing(service)
    await asked
    await service.close()
    return 0
  } finally {
    leave()
  }
}

function announce(service: RunningService, options: ServeOptions): void {
  const memory = options.data === ':memory:'
  const lines = [
    `Partita is serving tables at ${service.url}`,
    `  connection string  ${shown(service.connectionString)}`,
    `  data               ${memory ? 'in memory only' : resolve(options.data)}`,
    ...(options.workers > 1 ? [`  workers            ${options.workers} processes`] : []),
    `  durability         ${memory ? 'none: all is gone when this stops' : `${options.durability}: ${durabilityNotes[options.durability]}`}`,
  ]
  if (service.authority !== undefined) lines.push(...howToTrust(service, options))
  if (isPublicKey(options.accounts) && !loopback.test(options.host)) {
    lines.push(
      `  WARNING            everyone knows the development key, and ${options.host} is not only this machine: set ${variableOf('accounts')}`,
    )
  }
  if (options.bearer?.kind === 'accept-any') {
    lines.push('  WARNING            every bearer token is believed, whoever signed it: for development only')
  }
  console.log(lines.join('\n'))
  if (options.readyFile !== undefined) {
    // Named only when whole: whoever waits for the file never reads half of it.
    const draft = `${options.readyFile}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify({ table: service.url })}\n`)
    renameSync(draft, options.readyFile)
  }
}

function howToTrust({ url }: RunningService, { data }: ServeOptions): string[] {
  const file = data === ':memory:' ? 'ca.pem' : join(resolve(data), 'tls', 'ca.pem')
  return [
    `  authority          ${data === ':memory:' ? `${url}/-/ca.pem, another one at each start` : file}`,
    ...(data === ':memory:' ? [`    fetch it         curl -k -o ca.pem ${url}/-/ca.pem`] : []),
    `    trust in Node    export NODE_EXTRA_CA_CERTS=${file}`,
    `    in Python        export REQUESTS_CA_BUNDLE=${file}`,
    `    on Debian        cp ${file} /usr/local/share/ca-certificates/partita.crt && update-ca-certificates`,
    `    on macOS         security add-trusted-cert -k ~/Library/Keychains/login.keychain-db ${file}`,
    `    on Windows       certutil -user -addstore Root ${file}`,
  ]
}

/** The file is there only while requests are answered: neither after a crash nor after any exit. */
function ownReadyFile(file: string): void {
  rmSync(file, { force: true })
  process.once('exit', () => rmSync(file, { force: true }))
}

/** Whether these accounts, or those taken when none are given, include the key that everyone knows. */
function isPublicKey(accounts: string | undefined): boolean {
  return accounts === undefined || accounts.includes(developmentAccount.key)
}

/** The development key is public; any other is not shown. */
function shown(connectionString: string): string {
  if (isPublicKey(connectionString)) return connectionString
  return connectionString.replace(/AccountKey=[^;]*/, 'AccountKey=…')
}

/** The first signal asks; a second does not wait. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(1)
      asked = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

function logRequest({ method, path, ms, answer }: LogEntry): void {
  const { reply, envelope, operation, fault } = answer
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      method,
      path,
      status: reply.status,
      operation,
      code: fault?.code,
      cause: fault?.cause instanceof Error ? fault.cause.message : undefined,
      ms: Math.round(ms * 100) / 100,
      requestId: envelope.requestId,
      clientRequestId: envelope.clientRequestId,
    }),
  )
}

/** Failures of our own are worth a line even when requests are not. */
function ignore(entry: LogEntry): void {
  if (entry.answer.reply.status >= 500 && entry.answer.fault?.cause !== undefined) {
    console.error(`partita: ${entry.method} ${entry.path}:`, entry.answer.fault.cause)
  }
}

function warn(text: string): void {
  console.error(`partita: ${text}`)
}

function explain(error: unknown): string {
  const { code, message, port } = error as { code?: string; message?: string; port?: number }
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use. Stop what holds it, or choose another with --table-port (0 takes a free one).`
  }
  if (code === 'EACCES') return `not allowed: ${message}`
  return message ?? String(error)
}

function helpText(): string {
  return [
    'partita serve [options]',
    '',
    ...optionLines(serveOptions),
    '',
    `Each option can be given as an environment variable, such as ${variableOf('table-port')}.`,
  ].join('\n')
}
