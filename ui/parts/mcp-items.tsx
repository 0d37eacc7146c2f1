// Tools, resources and prompts of MCP servers, each with the JSON Schema of its arguments.
import { useState } from 'preact/hooks'
import type { McpItem } from '../mcp-session.ts'
import { fieldsOfSchema } from '../schema-fields.ts'
import { Filter, isShown } from './filter.tsx'
import { Table } from './table.tsx'

export interface McpItemsProps {
  readonly items: readonly McpItem[]
  /** Names before those of tools and prompts, where a backend has several servers. */
  readonly servers: readonly string[]
  /** Selects an item; unset: none can be selected. */
  readonly onItem?: ((item: McpItem) => void) | undefined
}

export function McpItems({ items, servers, onItem }: McpItemsProps) {
  const [text, setText] = useState('')
  const hasPrefixes = items.some(({ name }) => serverOf(name, servers) !== '')
  return (
    <>
      <Filter label="Name or description" of="what the servers offer" text={text} onText={setText} />
      <Table
        caption="Tools, resources and prompts"
        columns={[
          { head: 'Kind', cell: ({ kind }: McpItem) => kind },
          ...(hasPrefixes ? [{ head: 'Server', cell: ({ name }: McpItem) => serverOf(name, servers) }] : []),
          { head: 'Name', cell: (item) => <Name item={item} onItem={onItem} /> },
          { head: 'Description', cell: ({ description }) => description },
          { head: 'Arguments', cell: ({ schema }) => <Arguments schema={schema} /> },
        ]}
        rows={items.filter(({ name, description }) => isShown(text, [name, description]))}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        empty={text === '' ? 'The server offers nothing to this client.' : 'Nothing has this text.'}
      />
    </>
  )
}

function Name({ item, onItem }: Pick<McpItemsProps, 'onItem'> & { readonly item: McpItem }) {
  if (onItem === undefined) return <span class="mono">{item.name}</span>
  return (
    <button class="plain mono" type="button" onClick={() => onItem(item)}>
      {item.name}
    </button>
  )
}

/** Of a name with the prefix of its server, or of the only server. */
export function serverOf(name: string, servers: readonly string[]): string {
  if (servers.length === 1) return servers[0] ?? ''
  return servers.find((server) => name.startsWith(`${server}_`) || name.startsWith(`${server}+`)) ?? ''
}

export function Arguments({ schema }: { readonly schema: unknown }) {
  const fields = fieldsOfSchema(schema)
  if (fields.length === 0) return <>none</>
  return (
    <details>
      <summary>{fields.map(({ name, isRequired }) => `${name}${isRequired ? '' : '?'}`).join(', ')}</summary>
      <pre tabIndex={0} aria-label="JSON Schema">
        {JSON.stringify(schema, undefined, 2)}
      </pre>
    </details>
  )
}
