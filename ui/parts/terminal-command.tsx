// The command that prints what a page shows. Nothing behind a login: the command reaches the admin server directly.
import { CopyButton } from './copy-button.tsx'

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** `given`: the arguments of `gw proxy`. */
export function TerminalCommand({ given }: { readonly given: string }) {
  const { hostname, host } = location
  if (!LOOPBACK.has(hostname)) return null
  const command = `gw proxy ${given} --local --admin-addr ${host}`
  return (
    <div class="bar command">
      <p class="soft">
        In a terminal: <code>{command}</code>
      </p>
      <CopyButton name="the command" text={command} />
    </div>
  )
}
