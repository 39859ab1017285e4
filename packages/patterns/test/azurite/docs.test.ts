/** The pages of docs/patterns: what their code prints is what they say it prints. */
import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Azurite, connectionString, startAzurite } from '../support/azurite.ts'

const repository = fileURLToPath(new URL('../../../../../', import.meta.url))
const pages = readdirSync(join(repository, 'docs', 'patterns')).filter((page) => page !== 'README.md')
/** Inside the package, so that it finds itself by its name. */
const folder = fileURLToPath(new URL('../docs/', import.meta.url))

let azurite: Azurite

before(async () => {
  azurite = await startAzurite()
  await mkdir(folder, { recursive: true })
})
after(async () => await azurite.stop())

describe('the code of docs/patterns', () => {
  for (const page of pages) {
    it(page, async () => {
      const text = await readFile(join(repository, 'docs', 'patterns', page), 'utf8')
      const file = join(folder, page.replace('.md', '.mjs'))
      await writeFile(file, runnable(blocksOf(text, 'ts')))
      const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 60_000 })
      assert.equal(stdout, blocksOf(text, 'text'))
    })
  }
})

/** All blocks of a language, one after another. */
function blocksOf(page: string, language: string): string {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))
  return [...blocks].map(([, code = '']) => code).join('')
}

/** With the address of the services that run here. */
function runnable(code: string): string {
  const address = JSON.stringify(connectionString(azurite))
  return code.replaceAll(
    /fromConnectionString\('UseDevelopmentStorage=true'((?:, [^)]+)?)\)/g,
    (_, rest: string) => `fromConnectionString(${address}${rest}, { allowInsecureConnection: true })`,
  )
}
