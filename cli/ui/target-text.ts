// The arguments with which a command reaches the proxy that a relay serves. Pure.
import type { ProxyTransport, TargetFlags } from '../portforward/targets.ts'

export function targetText({ gateway, label }: Pick<ProxyTransport, 'gateway' | 'label'>, flags: TargetFlags): string {
  const { local = false, adminAddr, kubeconfig, context, proxyAdminPort } = flags
  if (local) return `--local --admin-addr ${adminAddr}`
  const resource = gateway ?? `pod/${label}`
  // A namespace has no dots.
  const dot = resource.lastIndexOf('.')
  return [
    `${resource.slice(0, dot)} -n ${resource.slice(dot + 1)}`,
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context ${context}`]),
    ...(proxyAdminPort === undefined ? [] : [`--proxy-admin-port ${proxyAdminPort}`]),
  ].join(' ')
}
