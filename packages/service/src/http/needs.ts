/** What a request asks of its caller, told from its address and headers. */
import type { Need } from '../auth/grant.ts'
import type { Route } from './route.ts'
import type { Target } from './target.ts'

export function needOf(
  route: Route,
  writes: boolean,
  headers: ReadonlyMap<string, string>,
  { secondary }: Target,
): Need {
  return {
    operation: route.kind,
    table: 'table' in route ? route.table : undefined,
    key: 'key' in route ? route.key : undefined,
    // From the header that execution reads, empty or not: an empty one is malformed, not absent.
    conditional: headers.has('if-match'),
    writes,
    secondary,
  }
}
