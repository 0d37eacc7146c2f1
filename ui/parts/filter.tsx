// A field that reduces the rows of a table to those with a text.
export interface FilterProps {
  readonly label: string
  /** What it filters; needed for the second one of a page. */
  readonly of?: string
  readonly text: string
  readonly onText: (text: string) => void
}

export function Filter({ label, of, text, onText }: FilterProps) {
  return (
    <div class="bar" role="search" aria-label={of}>
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
