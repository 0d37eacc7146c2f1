// A field that reduces the rows of a table to those with a text.
export interface FilterProps {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
}

export function Filter({ label, text, onText }: FilterProps) {
  return (
    <div class="bar" role="search">
      <label>
        {label}
        <input type="search" value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      </label>
    </div>
  )
}

/** Whether one of the texts contains the filter, whatever their capitals are. */
export function isShown(filter: string, texts: readonly string[]): boolean {
  const wanted = filter.trim().toLowerCase()
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted))
}
