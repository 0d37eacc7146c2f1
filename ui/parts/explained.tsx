// Why a request got its response, with links to the rule and to the policies that decided, and what would change it.
import type { Explanation, PolicySource } from '#cli/explain/explanation.ts'
import { routeRows } from '#cli/proxy/rows.ts'
import type { Dump } from '../api.ts'
import { hrefOf } from '../place.ts'
import { Fact } from './fact.tsx'
import { stateOfStatus } from './states.ts'

export interface ExplainedProps {
  readonly explanation: Explanation | undefined
  readonly dump: Dump
  /** Of the section; each on a page has its own. */
  readonly label?: string
}

export function Explained({ explanation, dump, label = 'Explanation' }: ExplainedProps) {
  if (explanation === undefined) return <p class="soft">The request has not ended yet.</p>
  const { status, error, milliseconds, listener, route, routeKey, decision, before, cure, meaning } = explanation
  const place = routeKey === undefined ? undefined : ruleHref(routeKey, dump)
  return (
    <section class="explained" aria-label={label}>
      <h2 class={stateOfStatus(status)}>
        {status ?? 'No complete response'}
        {error !== undefined && `: ${error}`}
      </h2>
      <dl class="facts">
        <Fact name="listener" lines={listener === undefined ? [] : [listener]} />
        <Fact
          name="route"
          lines={route === undefined ? [] : [place === undefined ? route : <a href={place}>{route}</a>]}
        />
        <Fact
          name="decided by"
          lines={[
            <b>{decision.name}</b>,
            ...decision.sources.map((source) => <Source source={source} dump={dump} place={place} />),
            ...decision.details,
          ]}
        />
        <Fact name="before it" lines={before} />
        <Fact name="to pass" lines={cure === undefined ? [] : [cure]} />
        <Fact name="meaning" lines={meaning === undefined ? [] : [meaning]} />
        <Fact name="took" lines={[`${milliseconds.toFixed(1)} ms`]} />
      </dl>
    </section>
  )
}

interface SourceProps {
  readonly source: PolicySource
  readonly dump: Dump
  /** Of the rule that was selected. */
  readonly place: string | undefined
}

function Source({ source: { key, object, field }, dump, place }: SourceProps) {
  const href = dump.policies.some((policy) => policy.key === key) ? hrefOf('policies', key) : place
  return (
    <>
      {href === undefined ? object : <a href={href}>{object}</a>}
      {field !== undefined && <span class="mono"> {field}</span>}
    </>
  )
}

/** undefined: the configuration has changed since then. */
function ruleHref(routeKey: string, dump: Dump): string | undefined {
  return routeRows(dump).some(({ key }) => key === routeKey) ? hrefOf('routes', routeKey) : undefined
}
