// Every field that the SDK of AWS declares for the Converse API is listed: used, or why not. A new version of the SDK
// with another field fails here. What is used is proven by the tests of requests and answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { declaredMembers } from '../declared.testing.ts'

const MODULE = join(import.meta.dirname, '../../../../node_modules/@aws-sdk/client-bedrock-runtime')
const SDK = readFileSync(join(MODULE, 'dist-types/models/models_0.d.ts'), 'utf8')

const USED = 'used'
const OF_VENDOR = 'no format of a client has it'
const REPORT = 'a report about how the vendor served the request'

const LEDGER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ConverseStreamRequest: {
    additionalModelRequestFields: USED,
    additionalModelResponseFieldPaths: OF_VENDOR,
    guardrailConfig: USED,
    inferenceConfig: USED,
    messages: USED,
    modelId: 'in the path',
    outputConfig: USED,
    performanceConfig: OF_VENDOR,
    promptVariables: OF_VENDOR,
    requestMetadata: USED,
    serviceTier: USED,
    system: USED,
    toolConfig: USED,
  },
  InferenceConfiguration: { maxTokens: USED, stopSequences: USED, temperature: USED, topP: USED },
  ToolSpecification: { description: USED, inputSchema: USED, name: USED, strict: USED },
  ToolConfiguration: { toolChoice: USED, tools: USED },
  ToolUseBlock: { input: USED, name: USED, toolUseId: USED, type: 'of tools that the vendor runs' },
  ToolResultBlock: { content: USED, status: USED, toolUseId: USED, type: 'of tools that the vendor runs' },
  ImageBlock: { error: REPORT, format: USED, source: USED },
  DocumentBlock: {
    citations: 'rejected by the format of the client',
    context: 'rejected by the format of the client',
    format: USED,
    name: USED,
    source: USED,
  },
  CachePointBlock: { ttl: USED, type: USED },
  OutputConfig: { effort: USED, textFormat: USED },
  JsonSchemaDefinition: { description: USED, name: USED, schema: USED },
  ConverseResponse: {
    additionalModelResponseFields: OF_VENDOR,
    metrics: REPORT,
    output: USED,
    performanceConfig: REPORT,
    serviceTier: USED,
    stopReason: USED,
    trace: REPORT,
    usage: USED,
  },
  ConverseStreamMetadataEvent: {
    metrics: REPORT,
    performanceConfig: REPORT,
    serviceTier: USED,
    trace: REPORT,
    usage: USED,
  },
  TokenUsage: {
    cacheDetails: 'splits a count that is used',
    cacheReadInputTokens: USED,
    cacheWriteInputTokens: USED,
    inputTokens: USED,
    outputTokens: USED,
    totalTokens: 'the sum of other counts',
  },
  ReasoningTextBlock: { signature: USED, text: USED },
}

it.each(Object.entries(LEDGER))('%s: all fields that the SDK declares are listed', (name, fields) => {
  expect(declaredMembers(SDK, name).toSorted()).toEqual(Object.keys(fields).toSorted())
})
