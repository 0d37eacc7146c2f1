// A name with its lines, in a list of facts. One without lines is left out.
export function Fact({ name, lines }: { readonly name: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {lines.map((line) => (
          <div key={line}>{line}</div>
        ))}
      </dd>
    </>
  )
}
