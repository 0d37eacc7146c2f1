// The command that prints what a page shows. Nothing behind a login: the command reaches the admin server directly.
import { useContext } from 'preact/hooks'
import { ConfigurationSource } from '../configuration-source.ts'
import { relayTarget } from '../relay.ts'
import { CopyButton } from './copy-button.tsx'

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** `given`: the arguments of `gw proxy`. */
export function TerminalCommand({ given }: { readonly given: string }) {
  const { target: served } = useContext(ConfigurationSource)
  const { hostname, host } = location
  if (!LOOPBACK.has(hostname)) return null
  const target = served ?? relayTarget() ?? `--local --admin-addr ${host}`
  const command = `gw proxy ${given} ${target}`
  return (
    <div class="bar command">
      <p class="soft">
        {served === undefined ? 'In a terminal: ' : 'What a proxy has loaded: '}
        <code>{command}</code>
      </p>
      <CopyButton name="the command" text={command} />
    </div>
  )
}
