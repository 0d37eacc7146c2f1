// What is in force, and why? Each policy with its target and its fields; one of them whole.
import { useState } from 'preact/hooks'
import { fieldsOf } from '#cli/proxy/backends.ts'
import { targetText } from '#cli/proxy/rows.ts'
import type { Dump } from '../api.ts'
import { useItem } from '../place.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { CopyYaml } from '../parts/copy-yaml.tsx'
import { Filter, isShown } from '../parts/filter.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'

type PolicyRow = Dump['policies'][number]

/** A standalone file has no objects. */
const OBJECT: Column<PolicyRow> = { head: 'Object', cell: objectOf }
const STANDALONE = 'Standalone'

export function Policies({ dump: { policies } }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const [shown, setShown] = useItem('policies')
  const rows = policies.filter((row) => isShown(text, [row.key, objectOf(row), targetText(row.target), namesOf(row)]))
  const selected = policies.find(({ key }) => key === shown)
  return (
    <>
      <Filter label="Name, field or target" text={text} onText={setText} />
      <div class={selected === undefined ? undefined : 'split'}>
        <Table
          caption="Policies"
          columns={[
            {
              head: 'Policy',
              cell: ({ key }: PolicyRow) => (
                <button class="plain" type="button" aria-pressed={key === shown} onClick={() => setShown(key)}>
                  {key}
                </button>
              ),
            },
            ...(rows.some((row) => objectOf(row) !== '') ? [OBJECT] : []),
            { head: 'Fields', cell: namesOf },
            { head: 'Target', cell: ({ target }) => targetText(target) },
          ]}
          rows={rows}
          keyOf={({ key }) => key}
          empty={
            text === '' ? 'No policy is attached. A GwPolicy with a target appears here.' : 'No policy has this text.'
          }
        />
        {selected !== undefined && (
          <section aria-label={`Policy ${selected.key}`}>
            <div class="bar">
              <button type="button" onClick={() => setShown('')}>
                Close
              </button>
              <CopyButton name="the fields as JSON" label="Copy as JSON" text={textOf(selected)} />
              <CopyYaml name="the fields" value={selected.policy} />
            </div>
            <pre tabIndex={0}>{textOf(selected)}</pre>
          </section>
        )}
      </div>
      <TerminalCommand given="config policies" />
    </>
  )
}

function objectOf({ name }: PolicyRow): string {
  return name === null || name.kind === STANDALONE ? '' : `${name.kind} ${name.namespace}/${name.name}`
}

function textOf({ policy }: PolicyRow): string {
  return JSON.stringify(policy, undefined, 2)
}

/** `phase` is not a field: it is when the others apply. */
function namesOf({ policy }: PolicyRow): string {
  return Object.values(fieldsOf(policy))
    .flatMap((payload) => Object.keys(fieldsOf(payload)))
    .filter((name) => name !== 'phase')
    .join(', ')
}
