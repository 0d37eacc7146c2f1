// The formats for embeddings, rerank and token counts that only one provider has.
import type { OwnPlainFormat } from '#api/llm/formats.ts'
import type { SentFormat } from '../format.ts'
import { cohereEmbeddings, novaEmbeddings, titanEmbeddings } from './bedrock-embeddings.ts'
import { bedrockCountTokens, geminiCountTokens } from './count-tokens.ts'
import type { PlainTranslator } from './plain.ts'
import { bedrockRerank, vertexRank } from './rerank.ts'
import { vertexEmbeddings } from './vertex-embeddings.ts'

export type PlainTarget = OwnPlainFormat | 'GeminiCountTokens'

export const PLAIN: { readonly [N in PlainTarget]: PlainTranslator } = {
  Predict: vertexEmbeddings,
  Rank: vertexRank,
  GeminiCountTokens: geminiCountTokens,
  TitanEmbeddings: titanEmbeddings,
  CohereEmbeddings: cohereEmbeddings,
  NovaEmbeddings: novaEmbeddings,
  BedrockRerank: bedrockRerank,
  BedrockCountTokens: bedrockCountTokens,
}

export const PLAIN_FORMATS: { readonly [N in OwnPlainFormat]: SentFormat } = {
  Predict: vertexEmbeddings.sent,
  Rank: vertexRank.sent,
  TitanEmbeddings: titanEmbeddings.sent,
  CohereEmbeddings: cohereEmbeddings.sent,
  NovaEmbeddings: novaEmbeddings.sent,
  BedrockRerank: bedrockRerank.sent,
  BedrockCountTokens: bedrockCountTokens.sent,
}
