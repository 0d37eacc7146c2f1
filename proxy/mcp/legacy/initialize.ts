// The answers of several servers to `initialize`, merged into one (data-plane supplement section 4.4).
import { isRecord } from '#api/json.ts'
import { VERSION } from '#api/version.ts'
import type { Answer } from '../fan-out.ts'

type Json = { readonly [key: string]: unknown }

const CAPABILITIES = ['tools', 'prompts', 'resources'] as const
const PREAMBLE =
  'This endpoint combines several MCP servers. The name of a tool, prompt or resource shows which server it belongs to.'

/** One server: its response unchanged. Several: lowest protocol version, union of what can be multiplexed. */
export function mergeInitialize(
  answers: readonly Answer[],
  options: { askedVersion: string; isStateful: boolean },
): Json {
  const results = answers.map(({ member, response }) => ({ name: member.target.name, result: response.result ?? {} }))
  const versions = results
    .map(({ result }) => result['protocolVersion'])
    .filter((version) => typeof version === 'string')
  const instructions = results
    .filter(({ result }) => typeof result['instructions'] === 'string' && result['instructions'] !== '')
    .map(({ name, result }) => `[${name}]\n${String(result['instructions'])}`)
  return {
    protocolVersion: [options.askedVersion, ...versions].sort()[0],
    capabilities: mergeCapabilities(
      results.map(({ result }) => result['capabilities']),
      options.isStateful,
    ),
    serverInfo: { name: 'gw', version: VERSION },
    instructions: [PREAMBLE, ...instructions].join('\n\n'),
  }
}

function mergeCapabilities(all: readonly unknown[], isStateful: boolean): Json {
  const merged: { [key: string]: unknown } = {}
  for (const name of CAPABILITIES) {
    if (!all.some((one) => isRecord(one) && one[name] !== undefined)) continue
    merged[name] = { listChanged: isStateful, ...(name === 'resources' && isStateful ? { subscribe: true } : {}) }
  }
  for (const name of ['logging', 'completions'])
    if (all.some((one) => isRecord(one) && one[name] !== undefined)) merged[name] = {}
  return merged
}
