// A text with numbers of lines, and a mark at each line with a problem.
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
  const states = new Map(marks.map(({ line, severity }) => [line, severity] as const).toReversed())
  const count = text.split('\n').length
  const width = String(count).length + 2
  return (
    <div class="editor">
      <pre class="gutter" aria-hidden="true" ref={gutter}>
        {Array.from({ length: count }, (_, index) => {
          const state = states.get(index + 1)
          const number = `${state === undefined ? '' : '● '}${index + 1}`.padStart(width)
          return state === undefined ? (
            `${number}\n`
          ) : (
            <span key={index} class={state === 'error' ? 'bad' : 'warn'}>{`${number}\n`}</span>
          )
        })}
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
