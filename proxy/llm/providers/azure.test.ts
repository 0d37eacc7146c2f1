// Paths of Azure, and where keys and tokens go.
import { describe, expect, it } from 'vitest'
import type { AzureProvider } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import type { CredentialKind } from '../credential-kind.ts'
import { HeaderList } from '../../message/headers.ts'
import { SENT_FORMATS } from '../formats/table.ts'
import { azure } from './azure.ts'

const OPENAI: AzureProvider = { host: 'res.openai.azure.com', resourceType: 'OpenAI' }
const FOUNDRY: AzureProvider = { host: 'res.services.ai.azure.com', resourceType: 'Foundry' }

describe('the path of a model on Azure', () => {
  it.each<[AzureProvider, SentFormatName, string | undefined, string]>([
    [OPENAI, 'Completions', undefined, '/openai/v1/chat/completions'],
    [{ ...OPENAI, apiVersion: 'v1' }, 'Embeddings', undefined, '/openai/v1/embeddings'],
    [{ ...OPENAI, apiVersion: 'preview' }, 'Responses', undefined, '/openai/v1/responses?api-version=preview'],
    [
      { ...OPENAI, apiVersion: '2025-04-01-preview' },
      'Completions',
      undefined,
      '/openai/deployments/a%2Fb/chat/completions?api-version=2025-04-01-preview',
    ],
    [{ ...OPENAI, apiVersion: '2025-01-01' }, 'Responses', undefined, '/openai/responses?api-version=2025-01-01'],
    [FOUNDRY, 'Completions', undefined, '/api/projects/res/openai/v1/chat/completions'],
    [{ ...FOUNDRY, project: 'a b' }, 'Rerank', undefined, '/api/projects/a%20b/openai/v1/rerank'],
    [FOUNDRY, 'Messages', undefined, '/anthropic/v1/messages'],
    [FOUNDRY, 'AnthropicTokenCount', '/x/', '/x/anthropic/v1/messages/count_tokens'],
    [OPENAI, 'Completions', '/x/', '/x/openai/v1/chat/completions'],
  ])('%o, %s, prefix %s', (settings, format, prefix, path) => {
    expect(azure.paths(settings, prefix)(SENT_FORMATS[format], 'a/b', false)).toBe(path)
  })

  it.each<[AzureProvider, string, SentFormatName]>([
    [FOUNDRY, 'claude-sonnet-4-5', 'Messages'],
    [FOUNDRY, 'Claude-own', 'Messages'],
    [FOUNDRY, 'gpt-5-mini', 'Completions'],
    [OPENAI, 'claude-sonnet-4-5', 'Completions'],
  ])('%o, the model %s gets %s', (settings, model, format) => {
    const spoken = azure.formats(settings)(model)
    expect([spoken.has('Messages'), spoken.has('Completions')]).toEqual([
      format === 'Messages',
      format === 'Completions',
    ])
  })
})

describe('the credential for Azure', () => {
  it.each<[CredentialKind, SentFormatName | undefined, Record<string, string>, Record<string, string>]>([
    ['Key', 'Completions', { authorization: 'Bearer Bearer k1' }, { 'api-key': 'k1' }],
    ['Key', undefined, { authorization: 'Bearer k1', 'api-key': 'client' }, { 'api-key': 'k1' }],
    ['Key', 'Messages', { authorization: 'Bearer k1' }, { 'x-api-key': 'k1', 'anthropic-version': '2023-06-01' }],
    ['Key', 'Completions', { authorization: 'Bearer a.b.c' }, { authorization: 'Bearer a.b.c' }],
    ['Token', 'Completions', { authorization: 'Bearer t', 'api-key': 'client' }, { authorization: 'Bearer t' }],
    [
      'Placed',
      'Completions',
      { authorization: 'Bearer t', 'api-key': 'placed' },
      { authorization: 'Bearer t', 'api-key': 'placed' },
    ],
    ['Key', 'Completions', { 'api-key': 'client' }, { 'api-key': 'client' }],
    ['Key', 'Messages', { 'anthropic-version': 'own' }, { 'anthropic-version': 'own' }],
  ])('%s for %s: %o', (credential, sent, given, kept) => {
    const headers = HeaderList.of(Object.entries(given))
    azure.prepareHeaders(headers, credential, sent && SENT_FORMATS[sent])
    const names = ['authorization', 'api-key', 'x-api-key', 'anthropic-version']
    const found = names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)] as const] : []))
    expect(Object.fromEntries(found)).toEqual(kept)
  })
})
