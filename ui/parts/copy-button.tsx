// Copies a text, and reports it to screen readers as well.
import { useState } from 'preact/hooks'

export interface CopyButtonProps {
  /** What is copied, such as `curl`. */
  readonly name: string
  readonly text: string
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
          navigator.clipboard.writeText(text).then(
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
