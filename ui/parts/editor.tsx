// The editor of a text. What draws it is loaded with the first editor on a page.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeProblem, CodeView } from './code-view.ts'

export interface EditorProps {
  readonly label: string
  /** At first; the view takes another one. */
  readonly text: string
  readonly problems: readonly CodeProblem[]
  readonly onText: (text: string) => void
  /** When the editor is there. */
  readonly onView: (view: CodeView) => void
}

export function Editor({ label, text, problems, onText, onView }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null)
  const given = useRef({ text, onText, onView })
  given.current = { text, onText, onView }
  const [view, setView] = useState<CodeView | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let created: CodeView | undefined
    let isOver = false
    const create = async (): Promise<void> => {
      try {
        const { codeView } = await import('./code-view.ts')
        if (isOver || parent.current === null) return
        const { text: first } = given.current
        created = codeView({ parent: parent.current, label, text: first, onText: (now) => given.current.onText(now) })
        setView(created)
        given.current.onView(created)
      } catch {
        setProblem('The editor cannot be loaded: the admin server may have stopped. Load this page again.')
      }
    }
    void create()
    return () => {
      isOver = true
      created?.destroy()
    }
  }, [label])
  useEffect(() => view?.setProblems(problems), [view, problems])
  return (
    <>
      {problem !== '' && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      <div class="editor" ref={parent} />
    </>
  )
}
