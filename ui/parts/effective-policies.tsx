// The policies in force for one rule: each field with its value, where it comes from, and what it overrode.
import { useCallback, useContext } from 'preact/hooks'
import { givenReference } from '#cli/proxy/given-names.ts'
import type { Dump, EffectivePolicies as Policies } from '../api.ts'
import { ConfigurationSource } from '../configuration-source.ts'
import { usePolled } from '../polled.ts'
import { CopyYaml } from './copy-yaml.tsx'
import { PolicySources } from './policy-sources.tsx'
import { Table } from './table.tsx'

type Field = Policies['route'][number]

/** The configuration may change while it is shown. */
const EVERY_MS = 10_000
const LINE_LENGTH_MAX = 48

export interface EffectivePoliciesProps {
  /** Of the rule. */
  readonly route: string
  readonly dump: Dump
  readonly onClose: () => void
}

export function EffectivePolicies({ route, dump, onClose }: EffectivePoliciesProps) {
  const { policiesInForce } = useContext(ConfigurationSource)
  const { value, problem } = usePolled(
    useCallback((signal) => policiesInForce(route, signal), [route, policiesInForce]),
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
        {value !== undefined && <CopyYaml name="the policies" value={value} />}
      </div>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {value !== undefined && <Sections policies={value} dump={dump} />}
    </section>
  )
}

interface SectionsProps {
  readonly policies: Policies
  readonly dump: Dump
}

function Sections({ policies: { parents, connection, gateway, route, backends }, dump }: SectionsProps) {
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
          { head: 'Value', cell: ({ value }) => <pre class="value">{valueText(value)}</pre> },
          { head: 'From', cell: ({ sources, field }) => <PolicySources sources={sources} field={field} dump={dump} /> },
          {
            head: 'Overrides',
            cell: ({ overridden, field }) => <PolicySources sources={overridden} field={field} dump={dump} />,
          },
        ]}
        rows={rows}
        keyOf={({ part, field }) => `${part} ${field}`}
        empty="No policy applies to requests of this rule."
      />
    </>
  )
}

/** In one line if it is short. */
function valueText(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= LINE_LENGTH_MAX ? line : JSON.stringify(value, undefined, 1)
}
