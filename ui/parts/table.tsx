// A table with a caption, and with text in place of rows if it has none. A long one shows its first rows until the user
// asks for more: a browser takes seconds to lay out thousands.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
}

export interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Says how the table gets rows. */
  readonly empty: string
}

const ROWS = 200

export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>) {
  const [count, setCount] = useState(ROWS)
  if (rows.length === 0) return <p class="soft">{empty}</p>
  return (
    <>
      {/* A region that scrolls must be reachable by keyboard. */}
      <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map(({ head, isNumber }) => (
                <th key={head} scope="col" class={isNumber === true ? 'number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ head, cell, isNumber }) => (
                  <td key={head} class={isNumber === true ? 'number' : undefined}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > count && (
        <div class="bar">
          <p class="soft">{`The first ${count.toLocaleString('en')} of ${rows.length.toLocaleString('en')}.`}</p>
          <button type="button" onClick={() => setCount(count + ROWS)}>
            {`Show ${Math.min(ROWS, rows.length - count)} more`}
          </button>
        </div>
      )}
    </>
  )
}
