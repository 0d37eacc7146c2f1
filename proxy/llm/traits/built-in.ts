// Traits of public models, from the documentation of their vendors. docs/llm/model-traits.md shows how to add others.
import { UNKNOWN_MODEL, type ModelTraits, type TraitsRow } from './traits.ts'

const CLAUDE: ModelTraits = {
  ...UNKNOWN_MODEL,
  family: 'Claude',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  budgetMin: 1024,
  acceptsCacheMarks: true,
}

const CLAUDE_3: ModelTraits = { ...CLAUDE, thinking: 'None', acceptsOutputSchema: false, maxOutputTokens: 4096 }

/** Since Claude Opus 4.7: budgets and sampling parameters are rejected with status 400. */
const CLAUDE_ADAPTIVE: ModelTraits = {
  ...CLAUDE,
  thinking: 'Adaptive',
  acceptsSampling: false,
  maxOutputTokens: 128_000,
}

const GEMINI: ModelTraits = {
  ...UNKNOWN_MODEL,
  family: 'Gemini',
  budgetMax: 24_576,
  acceptsForcedCallWithThinking: true,
}

const GEMINI_3: ModelTraits = {
  ...GEMINI,
  thinking: 'Level',
  efforts: ['minimal', 'low', 'medium', 'high'],
  canStopThinking: false,
  requiresCallSignatures: true,
}

const NOVA: ModelTraits = { ...UNKNOWN_MODEL, family: 'Nova', thinking: 'None', acceptsCacheMarks: true }

/** Names in front of the id: of a publisher, a region, a project, an ARN. Behind it: dates and versions. */
function named(id: string): RegExp {
  return new RegExp(`(?:^|[^a-z\\d])${id}(?![a-z\\d])`)
}

/** The first row that matches counts. Versions have `-` or `.` between their numbers. */
export const BUILT_IN: readonly TraitsRow[] = [
  { match: named('claude-(?:instant|v?[12])'), traits: { ...CLAUDE_3, acceptsCacheMarks: false } },
  { match: named('claude-3[-.]7-[a-z]+'), traits: { ...CLAUDE, acceptsOutputSchema: false, maxOutputTokens: 64_000 } },
  { match: named('claude-3[-.]5-[a-z]+'), traits: { ...CLAUDE_3, maxOutputTokens: 8192 } },
  { match: named('claude-3-[a-z]+'), traits: CLAUDE_3 },
  { match: named('claude-opus-4[-.]1'), traits: { ...CLAUDE, maxOutputTokens: 32_000 } },
  { match: named('claude-(?:opus|sonnet|haiku)-4[-.]5'), traits: { ...CLAUDE, maxOutputTokens: 64_000 } },
  { match: named('claude-(?:opus|sonnet|haiku)-4[-.]6'), traits: { ...CLAUDE, maxOutputTokens: 64_000 } },
  { match: named('claude-(?:opus|sonnet|haiku)-4[-.]\\d'), traits: CLAUDE_ADAPTIVE },
  { match: named('claude-opus-4'), traits: { ...CLAUDE, acceptsOutputSchema: false, maxOutputTokens: 32_000 } },
  { match: named('claude-sonnet-4'), traits: { ...CLAUDE, acceptsOutputSchema: false, maxOutputTokens: 64_000 } },
  { match: named('claude-(?:[a-z]+-(?:[5-9]|\\d\\d)|mythos)'), traits: CLAUDE_ADAPTIVE },
  { match: named('claude'), traits: CLAUDE },
  { match: named('(?:gemma|gemini-1|gemini-2[.]0)'), traits: { ...GEMINI, thinking: 'None' } },
  { match: named('gemini-3-pro'), traits: { ...GEMINI_3, efforts: ['low', 'high'] } },
  {
    match: named('gemini-(?:[3-9]|\\d\\d)(?:[.]\\d+)?-pro'),
    traits: { ...GEMINI_3, efforts: ['low', 'medium', 'high'] },
  },
  { match: named('gemini-(?:[3-9]|\\d\\d)'), traits: GEMINI_3 },
  {
    match: named('gemini-[\\d.]+-pro'),
    traits: { ...GEMINI, budgetMin: 128, budgetMax: 32_768, canStopThinking: false },
  },
  { match: named('gemini'), traits: GEMINI },
  { match: named('amazon[.]nova'), traits: NOVA },
  // Its model is not visible.
  {
    match: /:application-inference-profile\//,
    traits: { ...UNKNOWN_MODEL, thinking: 'None', acceptsCacheMarks: true },
  },
]
