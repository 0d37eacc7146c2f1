// The parts of a request that cannot be translated, for its client.

/** A request that the other format cannot express; the text is for the client. */
export class Untranslatable extends Error {}
