import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { persistentStoreContract, storeContract } from './store-contract.ts'

storeContract('lmdb', async (clock) => openLmdbStore({ path: await temporaryFolder(), clock }))

persistentStoreContract('lmdb', (path, clock) => openLmdbStore({ path, clock }), temporaryFolder)
