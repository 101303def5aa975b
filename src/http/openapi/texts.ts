import { defaultSettings } from '../../domain/tenancy/service-settings.ts'

const { readsPerMinute, writesPerMinute } = defaultSettings

/** What the document says about the API as a whole. */
export const introduction =
  () => `Tillbridge answers an online shop's questions about a retailer: stores, stock, products, customers, sales, rewards and gift vouchers. JSON over HTTPS.

## Signing in
Send \`Authorization: Basic\` with the API key you were issued, which is the base64 of username and password, and \`X-Service-Name\` with the name of the service to act on. An account has a role in each of its services: a \`visitor\` reads, a \`maintainer\` writes as well, an \`admin\` sees and changes the configuration too. Records of another service do not exist for you.

## Answers
One record is \`{ "data": { … } }\`, a list \`{ "data": [ … ], "meta": { … } }\`. A field without a value is \`null\`, not absent. Amounts are text with the decimals of their \`currency\`. Times are \`YYYY-MM-DD HH:MM:SS\` on the clock of the service's time zone; in a query you may write them so, or as RFC 3339 with an offset. \`HEAD\` answers as \`GET\`, without a body; any other method that a path does not know is 405, with \`Allow\`.

## Lists
A page holds at most 100 records. While \`meta.hasNextPage\` is true, repeat the request with \`after_cursor\` set to \`meta.endCursor\`; a cursor never expires. Every page of a walk shows changes up to \`meta.asOf\` and no later. To follow changes, poll with \`updated_after\` set to the \`asOf\` of the walk before: nothing is missed, and within a walk nothing comes twice. Changes of all kinds of records, removals among them, are at \`/changes\`, which waits for them where you say so, and as they come at \`/changes/stream\`.

## Records
One record carries an \`ETag\`. Send it back in \`If-None-Match\`, and an unchanged record costs you a 304 without a body.

## Writing
Send \`Content-Type: application/json\`, UTF-8, at most 256 KiB. Nothing is read as something else: a number in quotes is a text. A field that is unknown, or that the service keeps itself, is refused by name and never dropped. What breaks the shape of a body is 400 \`invalid_body\`; what has the shape and breaks a rule is 422; either way \`errors\` points to every fault, and nothing was done. A write is done whole or not at all.

A POST makes something new: 201, with its path in \`Location\`. A PUT changes what it mentions and keeps the rest; \`null\` clears a field.

**Repeat safely.** Give each POST an \`Idempotency-Key\` of its own, such as a UUID. Should the answer not reach you, or be 504 \`outcome_unknown\`, send the same request with the same key again: within 24 hours it is done once, and you get the first answer, with \`Idempotent-Replayed: true\`. While the first request still runs the answer is 409 with \`Retry-After\`. The same key with another request is 422. A request that was refused (4xx) has not used up its key: correct it, and send it with the same one.

**Try without doing.** Send \`Prefer: tx=rollback\` with any POST or PUT: all of it is judged and worked out, you get the answer that the write would have had, with \`Preference-Applied: tx=rollback\`, and nothing is kept or told to the back office. Identifiers, numbers, PINs and passwords that only a real write makes are null. A wrong PIN counts all the same.

**Change what you have seen.** Send the \`ETag\` of the record in \`If-Match\`, and the change is made only if nobody else has made one since; else it is 412. Without it no field that you do not mention is lost either.

**Consent.** A subscription is consent to marketing: where \`emailSubscription\` or \`smsSubscription\` is true, \`privacy\` becomes false, whatever the body says, and \`meta.warnings\` tells of it. Every change of consent is recorded with its time and request.

**Audit.** Each write leaves a line: who, when, which operation, on what, and which fields, never their values. An admin reads them at \`/audit\`.

## Errors
Every error is \`application/problem+json\` (RFC 9457). Branch on \`code\`; show \`detail\` to people; \`errors\` lists all faults of the request at once; quote \`requestId\` when you ask for help. \`type\` is the address of a page that says what to do.

## Limits
${readsPerMinute.toLocaleString('en')} reads and ${writesPerMinute.toLocaleString('en')} writes a minute for each account, unless the service is set otherwise: \`RateLimit-Policy\` and \`RateLimit\` tell, and beyond them comes 429 with \`Retry-After\`. A URL has at most 8 KiB, a request at most 100 headers of 16 KiB together, a body at most 256 KiB; over HTTP/2 a connection has at most 100 requests at a time.
`

/** A sentence as a heading. */
export const heading = (sentence: string) => sentence.replace(/\.$/, '')
