import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { openCorsRules } from '../../src/http/cors.ts'
import type { CorsRule } from '../../src/model/service-properties.ts'
import type { AccountName } from '../../src/model/table.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { setServiceProperties } from '../../src/tables/set-service-properties.ts'

const account = 'acct' as AccountName
const rule: CorsRule = {
  origins: ['*'],
  methods: ['GET'],
  allowedHeaders: [],
  exposedHeaders: [],
  maxAgeSeconds: 0,
}

describe('rules of accounts', () => {
  it('are read once a second for requests without an origin, and each time for the others', async () => {
    const { store, reads } = counted()
    let nowMs = 0
    const rules = openCorsRules(store, () => nowMs)
    for (let i = 0; i < 100; i++) assert.deepEqual(await rules.lately(account), [])
    assert.equal(reads(), 1)
    nowMs += 999
    await rules.lately(account)
    assert.equal(reads(), 1)
    nowMs += 1
    await rules.lately(account)
    assert.equal(reads(), 2)
    await rules.now(account)
    await rules.now(account)
    assert.equal(reads(), 4)
  })

  it('set by another process are seen at once with an origin, and within a second without', async () => {
    const { store } = counted()
    let nowMs = 0
    const rules = openCorsRules(store, () => nowMs)
    await rules.lately(account)
    await setServiceProperties(store, account, { cors: [rule] })
    assert.deepEqual(await rules.lately(account), [])
    nowMs += 1000
    assert.deepEqual(await rules.lately(account), [rule])
    await setServiceProperties(store, account, { cors: [] })
    assert.deepEqual(await rules.now(account), [])
    assert.deepEqual(await rules.lately(account), [])
  })

  it('are taken apart again only when their row has changed', async () => {
    const { store } = counted()
    const rules = openCorsRules(store)
    await setServiceProperties(store, account, { cors: [rule] })
    const first = await rules.now(account)
    assert.equal(await rules.now(account), first)
    await setServiceProperties(store, account, { cors: [rule] })
    assert.notEqual(await rules.now(account), first)
    rules.forget(account)
    assert.deepEqual(await rules.lately(account), [rule])
  })
})

function counted(): { store: Store; reads: () => number } {
  const store = openMemoryStore({ clock: systemClock() })
  let count = 0
  return {
    reads: () => count,
    store: {
      ...store,
      get(table, key) {
        count++
        return store.get(table, key)
      },
    },
  }
}
