// Copies a text, and reports it to screen readers as well.
import { useState } from 'preact/hooks'

export interface CopyButtonProps {
  /** What is copied, such as `curl`. */
  readonly name: string
  /** A function: it is made when it is copied. */
  readonly text: string | (() => Promise<string>)
  /** On the button; unset: `Copy`. */
  readonly label?: string
}

export function CopyButton({ name, text, label = 'Copy' }: CopyButtonProps) {
  const [status, setStatus] = useState('')
  return (
    <>
      <button
        type="button"
        aria-label={label === 'Copy' ? `Copy ${name}` : label}
        onClick={() => {
          copied(text).then(
            () => setStatus(`Copied: ${name}.`),
            () => setStatus('The browser does not let this page copy: select the text.'),
          )
        }}
      >
        {label}
      </button>
      <p role="status" class="soft">
        {status}
      </p>
    </>
  )
}

async function copied(text: CopyButtonProps['text']): Promise<void> {
  await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
}
