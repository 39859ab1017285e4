/** The tree is the architecture: imports point one way, and this is where that is held. */
import { strict as assert } from 'node:assert'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Which parts of src each part may import. Parts import themselves; `service.ts` is a part of its own. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  model: [],
  store: ['model'],
  query: ['store', 'model'],
  tables: ['query', 'store', 'model'],
  auth: ['model'],
  http: ['tables', 'auth', 'query', 'store', 'model'],
  'service.ts': ['http', 'tables', 'auth', 'query', 'store', 'model'],
  command: ['service.ts', 'http', 'tables', 'auth', 'query', 'store', 'model'],
}

/** Engines are opened by whoever wires the parts together, and known to nobody else. */
const mayOpenEngines = ['service.ts', 'command']

const packageFolder = folderAbove('package.json')
const repositoryFolder = join(packageFolder, '..', '..')
const sources = readSources()

describe('imports', () => {
  it('are found', () => {
    const sample = [
      `import { a } from './a.ts'`,
      `import type {\n  B,\n  C,\n} from '../b.ts'`,
      `import './effect.ts'`,
      `import d, { type E } from "node:fs"`,
      `import * as f from 'lmdb'`,
      `export { g } from './g.ts'`,
      `export * from './h.ts'`,
      `export const i = await import('./i.ts')`,
      `type J = import('./j.ts').K`,
      `// import { no } from './comment.ts'`,
      `/** import { no } from './comment.ts' */`,
      `export const from = 'not an import'`,
    ].join('\n')
    assert.deepEqual(
      importsIn(sample).toSorted(),
      [
        '../b.ts',
        './a.ts',
        './effect.ts',
        './g.ts',
        './h.ts',
        './i.ts',
        './j.ts',
        'lmdb',
        'node:fs',
      ].toSorted(),
    )
    assert(sources.size > 10)
  })

  it('point one way', () => {
    const wrong: string[] = []
    for (const [file, text] of sources) {
      const part = partOf(file)
      assert(part in allowed, `${file} is in no known part of src: say here what it may import`)
      for (const specifier of importsIn(text)) {
        if (!specifier.startsWith('.')) continue
        const target = resolved(file, specifier)
        const to = partOf(target)
        if (to !== part && !(allowed[part] ?? []).includes(to)) wrong.push(`${file} imports ${target}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('name files that exist, as they are written', () => {
    const wrong: string[] = []
    for (const [file, text] of sources) {
      for (const specifier of importsIn(text)) {
        if (specifier.startsWith('.') && !sources.has(resolved(file, specifier)))
          wrong.push(`${file}: ${specifier}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('of a store never name another store', () => {
    const wrong: string[] = []
    for (const [file, text] of sources) {
      for (const specifier of importsIn(text)) {
        if (!specifier.startsWith('.')) continue
        const target = resolved(file, specifier)
        const engine = engineOf(target)
        if (engine === undefined || engineOf(file) === engine || mayOpenEngines.includes(partOf(file)))
          continue
        wrong.push(`${file} imports ${target}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('run in no circle', () => {
    const done = new Set<string>()
    for (const file of sources.keys()) walk(file, [])

    function walk(file: string, path: readonly string[]): void {
      assert(!path.includes(file), `a circle: ${[...path, file].join(' → ')}`)
      if (done.has(file)) return
      // A type needs nothing at run time, so two files may know each other's types.
      for (const specifier of importsIn(sources.get(file) ?? '', { types: false })) {
        if (specifier.startsWith('.')) walk(resolved(file, specifier), [...path, file])
      }
      done.add(file)
    }
  })

  it('name only Node itself and the packages we depend on', () => {
    const dependencies = Object.keys(manifest().dependencies)
    for (const [file, text] of sources) {
      for (const specifier of importsIn(text)) {
        if (specifier.startsWith('.')) continue
        const known = isBuiltin(specifier)
          ? specifier.startsWith('node:')
          : dependencies.some((name) => specifier === name || specifier.startsWith(`${name}/`))
        assert(known, `${file} imports ${specifier}`)
      }
    }
  })
})

describe('files', () => {
  it('are no barrels', () => {
    for (const [file, text] of sources) {
      assert.notEqual(posix.basename(file), 'index.ts', `${file}: import the file that has the thing`)
      const code = withoutComments(text)
      assert(!/^export\s+(?:type\s+)?\*/m.test(code), `${file} exports all of another file`)
      const rest = code
        .replaceAll(/^(?:import|export)\b[^'"]*?\bfrom\s*['"][^'"]*['"];?/gm, '')
        .replaceAll(/^import\s*['"][^'"]*['"];?/gm, '')
      assert.notEqual(rest.trim(), '', `${file} only passes on what others have`)
    }
  })
})

describe('run-time dependencies', () => {
  it('each have a page that says what they save us from writing', () => {
    const folder = join(repositoryFolder, 'docs', 'decisions')
    assert(existsSync(folder), 'docs/decisions is missing')
    const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
    const decisions = pages.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
    for (const name of Object.keys(manifest().dependencies)) {
      const word = new RegExp(`(?<![\\w-])${name.replaceAll(/[.*+?^$()|[\]\\{}/]/g, '\\$&')}(?![\\w-])`)
      assert.match(decisions, word, `no page in docs/decisions names ${name}`)
    }
  })
})

function readSources(): Map<string, string> {
  const folder = join(packageFolder, 'src')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]),
  )
}

/** Every module a text imports or passes on, with its types unless told otherwise. */
function importsIn(text: string, { types = true } = {}): string[] {
  const code = withoutComments(text)
  const found: string[] = []
  for (const match of code.matchAll(/^(?:import|export)\s(?:([^'"=]*?)\bfrom\s*)?['"]([^'"]+)['"]/gm)) {
    if (types || !match[1]?.startsWith('type ')) found.push(match[2] as string)
  }
  if (types)
    for (const match of code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) found.push(match[1] as string)
  return found
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

function partOf(file: string): string {
  return file.split('/')[0] as string
}

/** `lmdb` for anything in store/lmdb; undefined for the contract and what stores share. */
function engineOf(file: string): string | undefined {
  const [part, engine, ...rest] = file.split('/')
  return part === 'store' && rest.length > 0 ? engine : undefined
}

function resolved(file: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(file), specifier))
}

function manifest(): { readonly dependencies: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as ReturnType<typeof manifest>
}

/** The nearest folder above this file that holds `name`. */
function folderAbove(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, name))) {
    assert.notEqual(dirname(folder), folder, `no folder above holds ${name}`)
    folder = dirname(folder)
  }
  return folder
}
