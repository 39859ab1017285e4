/** The rows of the matrix, in order. */

/** What every program runs by itself when told `scenarios`. */
export const programScenarios = [
  'connect-connection-string',
  'connect-account-key',
  'connect-sas-url',
  'tables',
  'types',
  'insert-get',
  'merge',
  'replace',
  'upsert-merge',
  'upsert-replace',
  'delete',
  'etags',
  'select',
  'filters',
  'paging',
  'group',
  'group-failures',
  'access-policies',
  'policy-sas',
  'table-sas',
  'service-properties',
  'cors',
  'statistics',
  'keys',
  'errors',
  'retries',
] as const

/** Runs over two processes of the program, so the runner judges it. */
export const resumeScenario = 'paging-resume'

export const scenarios: readonly string[] = [...programScenarios, resumeScenario]
