// Why a playground cannot send requests, and what allows it.
import type { Dump } from '../api.ts'

export function mayAct({ config }: Dump): boolean {
  return config['uiActions'] === true
}

export function ActionsOff() {
  return (
    <p class="notice">
      This page sends requests through the gateway, which its setting does not allow. Start the proxy with{' '}
      <code>UI_ACTIONS=true</code> to allow it.
    </p>
  )
}
