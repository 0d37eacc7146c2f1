// A name with its lines, in a list of facts. One without lines is left out.
import type { ComponentChildren } from 'preact'

export function Fact({ name, lines }: { readonly name: string; readonly lines: readonly ComponentChildren[] }) {
  if (lines.length === 0) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {lines.map((line, index) => (
          <div key={index}>{line}</div>
        ))}
      </dd>
    </>
  )
}
