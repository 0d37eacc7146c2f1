// Why a request got its response, and what would change it.
import type { Explanation } from '#cli/explain/explanation.ts'
import { Fact } from './fact.tsx'

export interface ExplainedProps {
  readonly explanation: Explanation | undefined
  /** Of the section; each on a page has its own. */
  readonly label?: string
}

export function Explained({ explanation, label = 'Explanation' }: ExplainedProps) {
  if (explanation === undefined) return <p class="soft">The request has not ended yet.</p>
  const { status, error, listener, route, decision, before, cure } = explanation
  const places = decision.sources.map(({ object, field }) => (field === undefined ? object : `${object} (${field})`))
  return (
    <section aria-label={label}>
      <h2>
        {status ?? 'No complete response'}
        {error !== undefined && `: ${error}`}
      </h2>
      <dl class="facts">
        <Fact name="listener" lines={listener === undefined ? [] : [listener]} />
        <Fact name="route" lines={route === undefined ? [] : [route]} />
        <Fact name="decided by" lines={[decision.name, ...places, ...decision.details]} />
        <Fact name="before it" lines={before} />
        <Fact name="to pass" lines={cure === undefined ? [] : [cure]} />
      </dl>
    </section>
  )
}
