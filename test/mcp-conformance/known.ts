// Checks that the gateway does not pass, each with the reason. `open:` means a defect. Remove a row when the gateway
// passes its checks.
import type { Check } from './suite.ts'
import type { Way } from './ways.ts'

interface Known {
  readonly ways: readonly Way[]
  /** Of a scenario, and a space and the id of a check. */
  readonly checks: RegExp
  readonly reason: string
}

const THROUGH: readonly Way[] = ['1 target', '2 targets', 'stateless']

const KNOWN: readonly Known[] = [
  {
    ways: ['2 targets'],
    checks: /^(resources-(read|templates|subscribe|unsubscribe)|sep-2164)\S* /,
    reason:
      'by design: addresses of resources name their target when there are several; the suite uses those of the server',
  },
  {
    ways: ['stateless'],
    checks: /^(server-session-lifecycle \S|server-initialize server-session-id)/,
    reason: 'by design: there are no sessions',
  },
  {
    ways: THROUGH,
    checks: / server-sse-streams-functional$/,
    reason: 'by design: a response without other events is JSON; the check is for streams only',
  },
  {
    ways: ['stateless'],
    checks: /^server-sse-multiple-streams /,
    reason: 'by design: there are no sessions',
  },
  {
    ways: ['stateless'],
    checks: /^server-sse-polling /,
    reason: 'by design: there are no sessions; the gateway resumes streams itself',
  },
]

export function known(way: Way, { scenario, id }: Check): string | undefined {
  return KNOWN.find(({ ways, checks }) => ways.includes(way) && checks.test(`${scenario} ${id}`))?.reason
}
