/** Types must stay cheap: a hundred definitions are checked in the time a person does not notice. */
import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const secondsMax = 2

// Among the emitted files, so that it sees the library as its users do: by declarations.
const folder = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..', `generated-${process.pid}`)
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
)
const options =
  '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --ignoreConfig --singleThreaded ' +
  '--target es2023 --module nodenext --types node'

describe('a hundred definitions', () => {
  before(() => mkdir(folder, { recursive: true }))
  after(() => rm(folder, { recursive: true, force: true }))

  it(`are checked in under ${secondsMax} s`, async () => {
    // Against one definition: what remains is not the time to start and to read the declarations of others.
    const one = await compile('one.ts', [definition(0)])
    const hundred = await compile(
      'hundred.ts',
      Array.from({ length: 100 }, (_, index) => definition(index)),
    )
    assert(hundred.seconds - one.seconds < secondsMax, `${hundred.seconds} s against ${one.seconds} s`)
  })

  it('are really checked: every use compiles, and a wrong one is found', async () => {
    await compile('right.ts', [definition(0), uses(0)])
    const wrong = 'await table.of(Kind0).patch({ group: "g", id: 1, at: new Date() }, { nick: "x" })'
    const run = compile('wrong.ts', [definition(0), uses(0), wrong])
    await assert.rejects(run, (error: { stdout?: string }) => /wrong\.ts.*TS2322/.test(error.stdout ?? ''))
  })
})

/** Processor time, not the clock's: other tests run beside this one. */
async function compile(name: string, blocks: readonly string[]): Promise<{ readonly seconds: number }> {
  const file = join(folder, name)
  await writeFile(file, [imports, 'declare const table: Table', ...blocks].join('\n'))
  const command = [process.execPath, compiler, ...options.split(' '), file]
  const { stdout } = await promisify(execFile)('sh', ['-c', '"$0" "$@" && times', ...command])
  const [user = NaN, system = NaN] = [
    ...(stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g),
  ].map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds))
  assert(user > 0, stdout)
  return { seconds: user + system }
}

const imports = `import { and, binary, boolean, dateTime, desc, digits, double, entity, guid, int32, int64, key, string, text } from '../src/index.js'
import type { Table } from '../src/index.js'`

/** Property names differ, so that nothing checked for one definition can serve another. */
function definition(index: number): string {
  return `
export const Kind${index} = entity('Kind${index}', {
  properties: {
    group: string(), id: int32(), at: dateTime().fresh(), nick: string(), city: string().optional(),
    a${index}: boolean().optional(), b${index}: int64(), c${index}: double().optional(), d${index}: guid().fresh(),
    e${index}: binary().optional(), f${index}: string().encrypted().optional(), g${index}: int32().optional(),
  },
  partition: key(text('group')),
  row: key('kind_', digits('id', 6), desc('at')),
  indexes: { byNick: { row: key('nick_', text('nick')), copy: ['city', 'b${index}'] } },
})
await table.of(Kind${index}).insert({ group: 'g', id: 1, nick: 'n', b${index}: 5n })`
}

function uses(index: number): string {
  return `
const kind = table.of(Kind${index})
await kind.patch({ group: 'g', id: 1, at: new Date() }, { c${index}: 1, g${index}: 2 })
const one = await kind.get({ group: 'g', id: 1, at: new Date() }, { select: ['nick', 'b${index}'] })
one?.b${index}.toString()
const found = await kind
  .query({ group: 'g' }, { prefix: { id: 1 }, where: (it) => and(it.b${index}.gt(1n), it.city.startsWith('x')) })
  .toArray()
found[0]?.d${index}.at(0)
const copy = await kind.by('byNick').get({ group: 'g', nick: 'n' })
copy?.b${index}.toString()
for await (const each of table.anyOf(Kind${index}).scan()) if (each.type === 'Kind${index}') each.nick.at(0)
await kind.change({ group: 'g', id: 1, at: new Date() }, (it) => it && { ...it, nick: 'm' })`
}
