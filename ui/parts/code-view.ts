// A text with numbers of lines, colours of YAML and marks of problems, in CodeMirror: it draws the visible lines only,
// so that a file with tens of thousands of lines opens at once. A file of its own (`assets/code-view.js`), which the
// page with the editor loads.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Text } from '@codemirror/state'
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface CodeProblem {
  /** Both begin at 1. */
  readonly line: number
  readonly column: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface CodeViewOptions {
  readonly parent: HTMLElement
  /** Names the text for screen readers. */
  readonly label: string
  readonly text: string
  /** After each change by the user. */
  readonly onText: (text: string) => void
}

export interface CodeView {
  /** In place of the whole text, without a call of `onText`. */
  setText(text: string): void
  setProblems(problems: readonly CodeProblem[]): void
  /** Selects the rest of the line. */
  goTo(line: number, column: number): void
  destroy(): void
}

/** With the colours of style.css, which change with the setting of the system. */
const THEME = EditorView.theme({
  '&': { backgroundColor: 'var(--back)', color: 'var(--text)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', borderColor: 'var(--line)', color: 'var(--soft)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--raised) 60%, transparent)' },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 30%, transparent)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--text)' },
  '.cm-panels': { backgroundColor: 'var(--raised)', borderColor: 'var(--line)', color: 'var(--text)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--back)',
    backgroundImage: 'none',
    border: '1px solid var(--soft)',
    borderRadius: '4px',
    color: 'var(--text)',
  },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': { fontSize: '13px' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)' },
})

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--soft)' },
  { tag: [tags.number, tags.bool, tags.keyword, tags.meta], color: 'var(--warn)' },
])

export function codeView({ parent, label, text, onText }: CodeViewOptions): CodeView {
  // The Content-Security-Policy of the page allows no styles that a script writes, but those of a shadow root.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  let isOwnChange = false
  const view = new EditorView({
    parent: root,
    root,
    doc: text,
    extensions: [
      EditorState.lineSeparator.of(separatorOf(text)),
      EditorView.contentAttributes.of({
        'aria-label': label,
        autocapitalize: 'off',
        spellcheck: 'false',
        tabindex: '0',
      }),
      lineNumbers(),
      lintGutter(),
      history(),
      search({ top: true }),
      highlightSpecialChars(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      yaml(),
      syntaxHighlighting(COLORS),
      THEME,
      // Without a key for Tab, which leaves the editor as it leaves every other field.
      keymap.of([...searchKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged && !isOwnChange) onText(state.sliceDoc())
      }),
    ],
  })
  return {
    setText: (next) => {
      isOwnChange = true
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(next) } })
      isOwnChange = false
    },
    setProblems: (problems) => {
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((problem) => diagnosticOf(view.state.doc, problem)),
        ),
      )
    },
    goTo: (line, column) => {
      const [anchor, head] = rangeOf(view.state.doc, line, column)
      view.dispatch({ selection: { anchor, head }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

/** Other line ends are characters of a line, so that a text that is not changed stays the same. */
function separatorOf(text: string): string {
  return /\r\n/.test(text) && !/(?<!\r)\n/.test(text) ? '\r\n' : '\n'
}

function diagnosticOf(doc: Text, { line, column, severity, message }: CodeProblem): Diagnostic {
  const [from, to] = rangeOf(doc, line, column)
  return { from, to, severity, message }
}

/** The rest of the line. */
function rangeOf(doc: Text, line: number, column: number): readonly [from: number, to: number] {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return [Math.min(from + Math.max(column - 1, 0), to), to]
}
