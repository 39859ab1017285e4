/**
 * The service a suite talks to: in this process, or, where PARTITA_TEST_WORKERS is set, so many processes over one
 * store on disk, so that the same tests show that nothing depends on which of them answers.
 */
import { strict as assert } from 'node:assert'
import { developmentAccount } from '../../src/auth/accounts.ts'
import { type RunningService, type ServiceOptions, startService } from '../../src/service.ts'
import { startServer, testedWorkers } from './server-process.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type TestedOptions = Pick<ServiceOptions, 'data' | 'accounts' | 'statsOnPrimary'>

export async function startTestedService(options: TestedOptions): Promise<RunningService> {
  if (testedWorkers === undefined) return await startService(options)
  const data = options.data === ':memory:' ? await temporaryFolder() : options.data
  const { accounts = `${developmentAccount.name}:${developmentAccount.key}` } = options
  const server = await startServer(data, [
    '--accounts',
    accounts,
    ...(options.statsOnPrimary ? ['--stats-on-primary'] : []),
  ])
  const [name, key] = accounts.split(/[:;]/)
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=${name};AccountKey=${key};TableEndpoint=${server.url}/${name};`
  return { url: server.url, connectionString, authority: undefined, close }

  async function close(): Promise<void> {
    // A worker that died would have been replaced, and nobody would have noticed.
    assert.equal(server.printed().stderr, '')
    await server.stop()
  }
}
