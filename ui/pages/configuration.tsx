// How is the process configured? Edits the files of `gw run`: problems at their lines, the changes before they are saved.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Dump, problemOf } from '../api.ts'
import { lineDiff } from '../line-diff.ts'
import type { CodeView } from '../parts/code-view.ts'
import { Editor } from '../parts/editor.tsx'
import { Choice } from '../parts/fields.tsx'
import { checkSource, readSource, saveSource, type SourceProblem, type SourceText } from '../source-call.ts'

/** After the last change of the text. */
const CHECK_AFTER_MS = 400
/** Below the text; the others only have marks. */
const PROBLEMS_MAX = 100
/** Of a difference; the first ones. */
const LINES_MAX = 2000

export function Configuration({ dump: { config } }: { readonly dump: Dump }) {
  if (config['uiEdits'] === true) return <Files />
  return (
    <p class="notice">
      This page changes the files of <code>gw run</code>, which its setting does not allow. Start the proxy with{' '}
      <code>UI_EDITS=true</code> to allow it.
    </p>
  )
}

function Files() {
  const [files, setFiles] = useState<readonly SourceText[] | undefined>(undefined)
  const [path, setPath] = useState('')
  const [problem, setProblem] = useState('')
  /** Of the last file that was saved. */
  const [saved, setSaved] = useState('')
  const load = async (): Promise<void> => {
    try {
      setFiles(await readSource(new AbortController().signal))
      setProblem('')
    } catch (error) {
      setProblem(problemOf(error))
    }
  }
  useEffect(() => void load(), [])
  if (files === undefined) return problem === '' ? <p>Loading the files.</p> : <p class="notice">{problem}</p>
  const file = files.find((one) => one.path === path) ?? files[0]
  if (file === undefined) return <p class="soft">The path of gw run -f has no file.</p>
  return (
    <>
      {files.length > 1 && (
        <div class="bar">
          <Choice label="File" value={file.path} options={files.map((one) => one.path)} onValue={setPath} />
        </div>
      )}
      {problem !== '' && <p class="notice">{problem}</p>}
      {file.text === undefined ? (
        <p class="notice">
          {file.path}: {file.problem}
        </p>
      ) : (
        <FileEditor
          key={`${file.path} ${file.etag}`}
          file={{ ...file, text: file.text }}
          saved={saved}
          onReload={async (outcome) => {
            setSaved(outcome)
            await load()
          }}
        />
      )}
    </>
  )
}

interface FileEditorProps {
  readonly file: SourceText & { readonly text: string }
  readonly saved: string
  /** The marks of hidden values have other numbers in a file that was saved. */
  readonly onReload: (outcome: string) => Promise<void>
}

function FileEditor({ file: { path, etag, text: given }, saved: outcome, onReload }: FileEditorProps) {
  const [text, setText] = useState(given)
  const [isReviewing, setReviewing] = useState(false)
  const [status, setStatus] = useState(outcome)
  const { problems, setProblems, checked } = useProblems({ path, etag, text })
  const marks = useMemo(() => problems.filter(({ file }) => file === path), [problems, path])
  const view = useRef<CodeView | undefined>(undefined)
  const isChanged = text !== given
  useWarning(isChanged)
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const save = async (): Promise<void> => {
    try {
      const saved = await saveSource({ path, etag, text }, new AbortController().signal)
      setProblems(saved.problems)
      setReviewing(false)
      if (!('etag' in saved)) setStatus('The file has errors, and was not changed.')
      else
        await onReload(
          saved.reason === undefined ? 'Saved, and in force.' : `Saved, but not in force: ${saved.reason}.`,
        )
    } catch (error) {
      setStatus(problemOf(error))
    }
  }
  return (
    <>
      <p class="soft">
        <span class="mono">{path}</span>. Credentials are hidden: keep a mark such as <code>"&lt;hidden:1&gt;"</code> to
        keep its value, or replace it by a new one or a variable.
      </p>
      <Editor
        label={`Text of ${path}`}
        text={text}
        problems={marks}
        onText={setText}
        onView={(created) => (view.current = created)}
      />
      <Problems problems={problems} path={path} onLine={(line, column) => view.current?.goTo(line, column)} />
      <div class="bar">
        <button type="button" class="main" disabled={!isChanged || errors > 0} onClick={() => setReviewing(true)}>
          Review changes
        </button>
        <button
          type="button"
          onClick={() => {
            setText(given)
            view.current?.setText(given)
            void onReload('')
          }}
        >
          {isChanged ? 'Discard changes, and load again' : 'Load again'}
        </button>
        <p role="status">{[status, checked].filter((part) => part !== '').join(' ')}</p>
      </div>
      {isReviewing && isChanged && (
        <Review before={given} after={text} onSave={() => void save()} onCancel={() => setReviewing(false)} />
      )}
    </>
  )
}

interface ProblemsProps {
  readonly problems: readonly SourceProblem[]
  readonly path: string
  readonly onLine: (line: number, column: number) => void
}

function Problems({ problems, path, onLine }: ProblemsProps) {
  if (problems.length === 0) return null
  const more = problems.length - PROBLEMS_MAX
  return (
    <ul class="problems" aria-label="Problems">
      {problems.slice(0, PROBLEMS_MAX).map(({ file, line, column, path: field, message, severity }) => (
        <li key={[file, line, column, field, message].join(' ')}>
          <span class={severity === 'error' ? 'bad' : 'warn'}>{severity}</span>{' '}
          {file === path && line > 0 ? (
            <button class="plain mono" type="button" onClick={() => onLine(line, column)}>
              line {line}
            </button>
          ) : (
            <span class="mono">{file === path ? 'file' : `${file}:${line}`}</span>
          )}{' '}
          {field !== '' && <span class="mono">{field}: </span>}
          {message}
        </li>
      ))}
      {more > 0 && <li class="soft">{`${more.toLocaleString('en')} more, marked in the text.`}</li>}
    </ul>
  )
}

interface ReviewProps {
  readonly before: string
  readonly after: string
  readonly onSave: () => void
  readonly onCancel: () => void
}

const SIGNS = { added: '+ ', removed: '- ', same: '  ', 'left out': '… ' } as const

function Review({ before, after, onSave, onCancel }: ReviewProps) {
  const lines = useMemo(() => lineDiff(before, after), [before, after])
  const more = lines.length - LINES_MAX
  return (
    <section aria-label="Changes">
      <h2>Changes</h2>
      <pre tabIndex={0} class="diff" aria-label="Difference">
        {lines.slice(0, LINES_MAX).map(({ kind, text }, index) => (
          <span key={index} class={kind.replace(' ', '-')}>{`${SIGNS[kind]}${text}\n`}</span>
        ))}
      </pre>
      {more > 0 && <p class="soft">{`${more.toLocaleString('en')} more lines are not shown, and saved as well.`}</p>}
      <p>The file is replaced, and the proxy loads it at once. If it cannot, the configuration in force stays.</p>
      <div class="bar">
        <button type="button" class="main" onClick={onSave}>
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Back
        </button>
      </div>
    </section>
  )
}

/** Those of the text that was checked last. */
function useProblems({ path, etag, text }: { readonly path: string; readonly etag: string; readonly text: string }) {
  const [problems, setProblems] = useState<readonly SourceProblem[]>([])
  const [checked, setChecked] = useState('')
  const isFirst = useRef(true)
  useEffect(() => {
    const ended = new AbortController()
    setChecked('')
    const check = async (): Promise<void> => {
      try {
        const found = await checkSource({ path, etag, text }, ended.signal)
        if (ended.signal.aborted) return
        setProblems(found)
        setChecked(found.length === 0 ? 'Valid.' : '')
      } catch (error) {
        if (!ended.signal.aborted) setChecked(problemOf(error))
      }
    }
    const timer = setTimeout(() => void check(), isFirst.current ? 0 : CHECK_AFTER_MS)
    isFirst.current = false
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [path, etag, text])
  return { problems, setProblems, checked }
}

/** The browser asks before it leaves a page with changes. */
function useWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return undefined
    const ask = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isChanged])
}
