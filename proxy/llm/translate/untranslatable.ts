// What cannot be translated, for the client of the request.

/** A request that cannot be said in the other format; the text is for the client. */
export class Untranslatable extends Error {}
