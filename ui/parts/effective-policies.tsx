// The policies in force for one rule: each field with its value, where it comes from, and what it overrode.
import { useCallback } from 'preact/hooks'
import { sourceOf } from '#cli/explain/explanation.ts'
import { givenReference } from '#cli/proxy/given-names.ts'
import { effectivePolicies, type EffectivePolicies as Policies } from '../api.ts'
import { usePolled } from '../polled.ts'
import { Table } from './table.tsx'

type Field = Policies['route'][number]
type Source = Field['sources'][number]

/** The configuration may change while it is shown. */
const EVERY_MS = 10_000

export interface EffectivePoliciesProps {
  /** Of the rule. */
  readonly route: string
  readonly onClose: () => void
}

export function EffectivePolicies({ route, onClose }: EffectivePoliciesProps) {
  const { value, problem } = usePolled(
    useCallback((signal) => effectivePolicies(route, signal), [route]),
    EVERY_MS,
  )
  return (
    <section aria-label={`Policies in force for ${route}`}>
      <h2>Policies in force</h2>
      <div class="bar">
        <span class="mono">{route}</span>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {value !== undefined && <Sections policies={value} />}
    </section>
  )
}

function Sections({ policies: { parents, connection, gateway, route, backends } }: { readonly policies: Policies }) {
  const parts: readonly (readonly [name: string, fields: readonly Field[]])[] = [
    ['Connections', connection],
    ['Before routing', gateway],
    ['Rule', route],
    ...backends.flatMap(({ name, fields, sections }) => [
      [`Backend ${givenReference(name)}`, fields] as const,
      ...sections.map((section) => [`Backend ${givenReference(name)}/${section.name}`, section.fields] as const),
    ]),
  ]
  const rows = parts.flatMap(([part, fields]) => fields.map((field) => ({ part, ...field })))
  return (
    <>
      {parents.length > 0 && <p>{`Gets requests from ${parents.join(', then ')}.`}</p>}
      <Table
        caption="Policies in force"
        columns={[
          { head: 'Part', cell: ({ part }: (typeof rows)[number]) => part },
          { head: 'Field', cell: ({ field }) => <span class="mono">{field}</span> },
          { head: 'Value', cell: ({ value }) => <pre class="value">{JSON.stringify(value, undefined, 1)}</pre> },
          { head: 'From', cell: ({ sources, field }) => <Sources sources={sources} field={field} /> },
          { head: 'Overrides', cell: ({ overridden, field }) => <Sources sources={overridden} field={field} /> },
        ]}
        rows={rows}
        keyOf={({ part, field }) => `${part} ${field}`}
        empty="No policy applies to requests of this rule."
      />
    </>
  )
}

function Sources({ sources, field }: { readonly sources: readonly Source[]; readonly field: string }) {
  return (
    <>
      {sources.map((source) => (
        <div key={`${source.kind} ${source.key}`}>{sourceText(source, field)}</div>
      ))}
    </>
  )
}

function sourceText({ kind, key }: Source, field: string): string {
  if (kind === 'rule') return `the rule ${key}`
  if (kind === 'backend') return `the backend ${givenReference(key)}`
  if (kind === 'backendRef') return `the reference in the rule ${key}`
  const source = sourceOf(key, field)
  return source.field === undefined ? source.object : `${source.object} (${source.field})`
}
