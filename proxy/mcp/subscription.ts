// What a client of MCP 2026-07-28 subscribes to, and the notifications about it.
import { isRecord } from '#api/json.ts'
import { SUBSCRIPTION_KEY } from './envelope.ts'
import type { JsonRpcId, JsonRpcNotification } from './jsonrpc.ts'

export interface Subscription {
  readonly toolsListChanged?: true
  readonly promptsListChanged?: true
  readonly resourcesListChanged?: true
  readonly resourceSubscriptions?: readonly string[]
}

export const LISTEN = 'subscriptions/listen'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const UPDATED = 'notifications/resources/updated'
/** The kinds of items that servers list, and announce changes of. */
export const LISTS = ['tools', 'prompts', 'resources'] as const
/** Of one request. */
const URIS_MAX = 1024

/** undefined: not a subscription, or one to more than 1024 resources. */
export function subscriptionIn(params: { readonly [key: string]: unknown } | undefined): Subscription | undefined {
  const given = params?.['notifications']
  if (!isRecord(given)) return undefined
  const uris = given['resourceSubscriptions'] ?? []
  if (!Array.isArray(uris) || uris.length > URIS_MAX) return undefined
  if (!uris.every((uri) => typeof uri === 'string')) return undefined
  const lists = LISTS.filter((list) => given[`${list}ListChanged`] === true)
  return subscriptionTo(lists, [...new Set(uris)])
}

export function subscriptionTo(lists: readonly (typeof LISTS)[number][], uris: readonly string[]): Subscription {
  return {
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
}

export function joined(all: readonly Subscription[]): Subscription {
  const lists = LISTS.filter((list) => all.some((one) => one[`${list}ListChanged`] === true))
  return subscriptionTo(lists, [...new Set(all.flatMap(({ resourceSubscriptions = [] }) => resourceSubscriptions))])
}

export function listChanged(list: string): JsonRpcNotification {
  return { jsonrpc: '2.0', method: `notifications/${list}/list_changed` }
}

/** What a server that announces `capabilities` sends. */
export function announced(wanted: Subscription, capabilities: { readonly [key: string]: unknown }): Subscription {
  const has = (list: string, feature: string): boolean => {
    const capability = capabilities[list]
    return isRecord(capability) && capability[feature] === true
  }
  const lists = LISTS.filter((list) => wanted[`${list}ListChanged`] === true && has(list, 'listChanged'))
  return subscriptionTo(lists, has('resources', 'subscribe') ? (wanted.resourceSubscriptions ?? []) : [])
}

export function isEmpty(subscription: Subscription): boolean {
  return Object.keys(subscription).length === 0
}

export function acknowledgement(id: JsonRpcId, notifications: Subscription): JsonRpcNotification {
  return { jsonrpc: '2.0', method: ACKNOWLEDGED, params: { notifications, _meta: { [SUBSCRIPTION_KEY]: id } } }
}

/** undefined: another message. */
export function acknowledgedIn({ method, params }: JsonRpcNotification): Subscription | undefined {
  return method === ACKNOWLEDGED ? subscriptionIn(params) : undefined
}

/** The notification with the id of the subscription; undefined: it is not part of it. */
export function subscribed(
  id: JsonRpcId,
  subscription: Subscription,
  notification: JsonRpcNotification,
): JsonRpcNotification | undefined {
  const { method, params } = notification
  const isWanted =
    method === UPDATED
      ? subscription.resourceSubscriptions?.includes(String(params?.['uri'])) === true
      : LISTS.some(
          (list) => method === `notifications/${list}/list_changed` && subscription[`${list}ListChanged`] === true,
        )
  if (!isWanted) return undefined
  const meta = params?.['_meta']
  return { ...notification, params: { ...params, _meta: { ...(isRecord(meta) && meta), [SUBSCRIPTION_KEY]: id } } }
}
