// A text with numbers of lines, and a mark at each line with a problem.
import { Fragment } from 'preact'
import { useRef } from 'preact/hooks'

export interface EditorMark {
  readonly line: number
  readonly severity: 'error' | 'warning'
}

export interface EditorProps {
  readonly label: string
  readonly text: string
  readonly marks: readonly EditorMark[]
  readonly onText: (text: string) => void
}

const ID = 'editor-text'

export function Editor({ label, text, marks, onText }: EditorProps) {
  const gutter = useRef<HTMLPreElement>(null)
  return (
    <div class="editor">
      <pre class="gutter" aria-hidden="true" ref={gutter}>
        <Numbers count={text.split('\n').length} marks={marks} />
      </pre>
      <textarea
        id={ID}
        class="mono"
        aria-label={label}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (gutter.current !== null) gutter.current.scrollTop = currentTarget.scrollTop
        }}
      />
    </div>
  )
}

/** One text for all lines between two marks: a page with a node for each line takes seconds to draw. */
function Numbers({ count, marks }: { readonly count: number; readonly marks: readonly EditorMark[] }) {
  const states = new Map(marks.map(({ line, severity }) => [line, severity] as const).toReversed())
  const marked = [...states].filter(([line]) => line >= 1 && line <= count).toSorted(([one], [other]) => one - other)
  const width = String(count).length + 2
  const numbers = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(width)}\n`).join('')
  return (
    <>
      {marked.map(([line, severity], index) => (
        <Fragment key={line}>
          {numbers((marked[index - 1]?.[0] ?? 0) + 1, line)}
          <span class={severity === 'error' ? 'bad' : 'warn'}>{`${`● ${line}`.padStart(width)}\n`}</span>
        </Fragment>
      ))}
      {numbers((marked.at(-1)?.[0] ?? 0) + 1, count + 1)}
    </>
  )
}

/** Selects the rest of a line of the editor on the page. Both begin at 1. */
export function goToLine(line: number, column: number): void {
  const area = document.getElementById(ID)
  if (!(area instanceof HTMLTextAreaElement)) return
  const lines = area.value.split('\n')
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
  const text = lines[line - 1] ?? ''
  area.focus()
  area.setSelectionRange(before + Math.min(column - 1, text.length), before + text.length)
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = Math.max(0, (line - 6) * lineHeight)
}
