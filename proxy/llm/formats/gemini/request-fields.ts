// The ledger of GenerateContent requests. Names with underscores have the same rules.
import { isEmptyList, isFalse, REFUSED, type FieldRules } from '../fields.ts'

const LABELS = { dropped: 'labels for the accounts of the vendor' }

export const REQUEST_FIELDS: FieldRules = {
  // Content that the vendor keeps.
  cachedContent: REFUSED,
  contents: 'mapped',
  generationConfig: 'mapped',
  labels: LABELS,
  // The two are in the path; the call adds them.
  model: 'mapped',
  stream: 'mapped',
  modelArmorConfig: REFUSED,
  safetySettings: { dropped: 'filters that only the vendor of the format has; the provider applies its own' },
  serviceTier: 'mapped',
  // Only for the logs of the vendor.
  store: isFalse,
  systemInstruction: 'mapped',
  toolConfig: 'mapped',
  tools: 'mapped',
}

export const CONFIG_FIELDS: FieldRules = {
  audioTimestamp: isFalse,
  audioTranscriptionConfig: REFUSED,
  candidateCount: 'mapped',
  enableAffectiveDialog: isFalse,
  enableEnhancedCivicAnswers: isFalse,
  frequencyPenalty: 'mapped',
  imageConfig: REFUSED,
  logprobs: 'mapped',
  maxOutputTokens: 'mapped',
  mediaResolution: { dropped: 'how closely media are read; other formats have a value for each image' },
  modelSelectionConfig: REFUSED,
  presencePenalty: 'mapped',
  responseFormat: isEmptyList,
  responseJsonSchema: 'mapped',
  responseLogprobs: 'mapped',
  responseMimeType: 'mapped',
  responseModalities: (value) => Array.isArray(value) && value.every((one) => /^(?:text|image)$/i.test(String(one))),
  responseSchema: 'mapped',
  routingConfig: REFUSED,
  seed: 'mapped',
  speechConfig: REFUSED,
  stopSequences: 'mapped',
  temperature: 'mapped',
  thinkingConfig: 'mapped',
  topK: 'mapped',
  topP: 'mapped',
  translationConfig: REFUSED,
}

export const THINKING_FIELDS: FieldRules = {
  includeThoughts: 'mapped',
  thinkingBudget: 'mapped',
  thinkingLevel: 'mapped',
}

/** Parts that are not mapped are rejected by name. */
export const PART_FIELDS: FieldRules = {
  audioTranscription: REFUSED,
  codeExecutionResult: REFUSED,
  executableCode: REFUSED,
  fileData: 'mapped',
  functionCall: 'mapped',
  functionResponse: 'mapped',
  inlineData: 'mapped',
  mediaProcessing: REFUSED,
  mediaResolution: { dropped: 'how closely a part is read' },
  partMetadata: LABELS,
  speechMetadata: REFUSED,
  text: 'mapped',
  thought: 'mapped',
  thoughtSignature: 'mapped',
  toolCall: REFUSED,
  toolResponse: REFUSED,
  videoMetadata: REFUSED,
}

export const CALL_FIELDS: FieldRules = {
  args: 'mapped',
  id: 'mapped',
  name: 'mapped',
  partialArgs: REFUSED,
  willContinue: isFalse,
}

export const RESULT_FIELDS: FieldRules = {
  id: 'mapped',
  name: 'mapped',
  parts: 'mapped',
  response: 'mapped',
  scheduling: REFUSED,
  willContinue: isFalse,
}

/** Of tools: all but functions run at the vendor. */
export const TOOL_FIELDS: FieldRules = {
  codeExecution: REFUSED,
  computerUse: REFUSED,
  enterpriseWebSearch: REFUSED,
  exaAiSearch: REFUSED,
  fileSearch: REFUSED,
  functionDeclarations: 'mapped',
  googleMaps: REFUSED,
  googleSearch: REFUSED,
  googleSearchRetrieval: REFUSED,
  mcpServers: isEmptyList,
  parallelAiSearch: REFUSED,
  retrieval: REFUSED,
  urlContext: REFUSED,
}

const OF_RESULTS = { dropped: 'describes results for programs; the model gets the results' }

export const DECLARATION_FIELDS: FieldRules = {
  behavior: (value) => value === 'BLOCKING' || value === 'UNSPECIFIED',
  description: 'mapped',
  name: 'mapped',
  parameters: 'mapped',
  parametersJsonSchema: 'mapped',
  response: OF_RESULTS,
  responseJsonSchema: OF_RESULTS,
}

export const TOOL_CONFIG_FIELDS: FieldRules = {
  functionCallingConfig: 'mapped',
  includeServerSideToolInvocations: isFalse,
  retrievalConfig: { dropped: 'for tools of the vendor, which are rejected' },
}

export const CALLING_FIELDS: FieldRules = {
  allowedFunctionNames: 'mapped',
  mode: 'mapped',
  streamFunctionCallArguments: { dropped: 'arguments come with their call, complete' },
}
