import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const emitted = fileURLToPath(new URL('../../src/', import.meta.url))
const optional = /from ['"]@azure\/storage-(?:blob|queue)['"]/

describe('the optional peers', () => {
  it('are loaded by no module: users make the clients, and the library takes them', () => {
    const modules = readdirSync(emitted, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    )
    assert(modules.length > 5)
    for (const name of modules) assert.doesNotMatch(readFileSync(join(emitted, name), 'utf8'), optional, name)
  })

  it('are not named by any type that the package itself gives', () => {
    const seen = new Set<string>()
    walk(join(emitted, 'index.d.ts'))
    assert(seen.size > 3)

    function walk(file: string): void {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(file, 'utf8')
      assert.doesNotMatch(text, optional, file)
      for (const [, target = ''] of text.matchAll(/from ['"](\.[^'"]+)['"]/g))
        walk(join(file, '..', target.replace(/\.(?:ts|js)$/, '.d.ts')))
    }
  })

  it('are named where they are needed', () => {
    for (const name of ['saga/saga', 'blob-log/blob-log', 'large-values/large-values'])
      assert.match(readFileSync(join(emitted, `${name}.d.ts`), 'utf8'), optional)
  })
})
