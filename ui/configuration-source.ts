// Where pages about a configuration get it from: a proxy, or a controller that has translated it.
import { createContext } from 'preact'
import { type EffectivePolicies, effectivePolicies } from './api.ts'

export interface ConfigurationSource {
  /** Of the rule with this key. @throws {ApiError} The configuration has no such rule any more. */
  readonly policiesInForce: (route: string, signal: AbortSignal) => Promise<EffectivePolicies>
  /** Arguments with which `gw proxy` reaches a proxy that serves it; unset: the proxy of this page. */
  readonly target?: string
}

export const ConfigurationSource = createContext<ConfigurationSource>({ policiesInForce: effectivePolicies })
