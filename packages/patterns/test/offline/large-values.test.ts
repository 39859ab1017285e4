/** Large values and the exact order of their writes, without a container. */
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type LargeValue,
  largeValueCells,
  largeValueOf,
  largeValues,
} from '../../src/large-values/large-values.ts'

const owner = { table: 'Employees', partitionKey: 'Sales', rowKey: 'empid_000223', property: 'Photo' }
const photo = Buffer.from('a photo')
const hash = createHash('sha256').update(photo).digest('hex')

/** A container that writes down what it is asked, and may refuse deletions. */
function newValues({ failing = false, nowMs = (): number => 0 } = {}) {
  const asked: string[] = []
  const left: string[] = []
  const container = {
    getBlockBlobClient: (name: string) => ({
      async uploadData(content: Uint8Array, options: { blobHTTPHeaders: { blobContentType: string } }) {
        asked.push(`upload ${shape(name)} ${content.length} ${options.blobHTTPHeaders.blobContentType}`)
      },
      async deleteIfExists() {
        asked.push(`delete ${shape(name)}`)
        if (failing) throw new Error('refused')
        return { succeeded: true }
      },
    }),
  } as never
  const values = largeValues(container, {
    clock: nowMs,
    sweepAfterMs: 1000,
    observe: ({ blob }) => void left.push(blob),
  })
  return { values, asked, left }
}

/** The random part of a blob's name does not matter. */
function shape(name: string): string {
  return name.replace(/^Employees\/[0-9a-f-]{36}$/, 'Employees/…')
}

const old: LargeValue = { blob: 'Employees/old', bytes: 1, type: 'image/png', hash: '00' }

describe('a large value', () => {
  it('is in its blob before the entity names it, and the one before is deleted last', async () => {
    const { values, asked } = newValues()
    const value = await values.write(owner, photo, 'image/png', async (named) => {
      asked.push(`row ${shape(named.blob)}`)
      return [old]
    })
    assert.deepEqual(asked, ['upload Employees/… 7 image/png', 'row Employees/…', 'delete Employees/old'])
    assert.deepEqual({ ...value, blob: '' }, { blob: '', bytes: 7, type: 'image/png', hash })
  })

  it('is left to the sweep when the entity could not be written', async () => {
    const { values, asked } = newValues()
    const writing = values.write(owner, photo, 'image/png', () => Promise.reject(new Error('conflict')))
    await assert.rejects(writing, /conflict/)
    assert.deepEqual(asked, ['upload Employees/… 7 image/png'])
  })

  it('goes after its entity, and a deletion that fails is told and harmless', async () => {
    const { values, asked, left } = newValues({ failing: true })
    await values.remove(async () => {
      asked.push('row')
      return [old]
    })
    assert.deepEqual(asked, ['row', 'delete Employees/old'])
    assert.deepEqual(left, ['Employees/old'])
  })

  it('is not named when the sweep might be about to take it', async () => {
    let nowMs = 0
    const { values } = newValues({ nowMs: () => nowMs })
    const staged = await values.stage(owner, photo)
    nowMs = 501
    const committing = values.commit([staged], () => assert.fail('the row must not be written'))
    await assert.rejects(committing, { code: 'InvalidValue' })
  })

  it('is four cells of its entity', () => {
    const cells = largeValueCells('Photo', { blob: 'Employees/x', bytes: 2 ** 40, type: 'image/png', hash })
    assert.deepEqual(cells, {
      PhotoBlob: { type: 'String', value: 'Employees/x' },
      PhotoBytes: { type: 'Int64', value: '1099511627776' },
      PhotoType: { type: 'String', value: 'image/png' },
      PhotoHash: { type: 'String', value: hash },
    })
    const expected = { blob: 'Employees/x', bytes: 2 ** 40, type: 'image/png', hash }
    assert.deepEqual(largeValueOf('Photo', cells), expected)
    assert.equal(largeValueOf('Other', cells), undefined)
  })
})
