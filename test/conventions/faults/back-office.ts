import type { Section } from './fault.ts'

export const backOffice: Section = {
  title: 'Back office failures',
  cases: [
    [
      73,
      'The back office rejects connections',
      ['apparel21/faults/installation.test.ts', 'failed connections affect only live requests, and service recovers'],
      ['apparel21/client/failures.test.ts', 'a failed connection is 503 with Retry-After'],
    ],
    [
      74,
      'The back office accepts connections and never responds',
      ['apparel21/faults/timing.test.ts', 'calls end at the deadline and stop after five timeouts'],
      ['apparel21/faults/installation.test.ts', 'a back office that never responds affects only its own service'],
    ],
    [
      75,
      'The back office responds byte by byte',
      ['apparel21/faults/timing.test.ts', 'a response that drips byte by byte ends at the deadline'],
    ],
    [
      76,
      'The back office returns a web server page',
      ['apparel21/faults/answers.test.ts', 'a web server page is 502 and is never passed on'],
    ],
    [
      77,
      'The back office returns truncated or malformed XML',
      ['apparel21/faults/answers.test.ts', 'truncated or malformed XML is retried once, then 502, and never stored'],
    ],
    [
      78,
      'XML has another root, another order, unknown elements, carriage returns or a byte order mark',
      ['apparel21/faults/answers.test.ts', 'harmless format deviations are accepted; another root is 502'],
    ],
    [
      79,
      'XML contains a document type, external entities or an entity expansion attack',
      ['apparel21/faults/answers.test.ts', 'a document type declaration is 502 without any expansion or fetch'],
    ],
    [
      80,
      'A response body has a gigabyte or no end',
      ['apparel21/faults/answers.test.ts', 'a huge or endless body is cut off with bounded memory'],
    ],
    [
      81,
      'The back office returns its own errors: 404 with 5008, rejections with a code',
      ['apparel21/faults/answers.test.ts', 'missing data is 404; rejections are 4xx or 502 with our text'],
    ],
    [
      82,
      'The back office password has changed',
      ['apparel21/faults/installation.test.ts', 'a rejected password is 503 with one alert until it is corrected'],
    ],
    [
      83,
      'The back office redirects to another address',
      ['apparel21/faults/installation.test.ts', 'a redirect is not followed and receives no credentials'],
    ],
    [
      84,
      'The back office certificate has expired or belongs to another host',
      ['apparel21/faults/installation.test.ts', 'an invalid certificate is rejected unless a CA file allows it'],
    ],
    [
      85,
      'The second of two calls fails',
      ['apparel21/faults/answers.test.ts', 'a reference value that cannot be fetched prevents response and storage'],
    ],
    [
      86,
      "A person's timestamp is stale when it is written",
      ['apparel21/writes/customer-changes.test.ts', 'a change is abandoned after three concurrent back office changes'],
      ['apparel21/writes/customer-changes.test.ts', 'a concurrent back office change between read and write is kept'],
      ['apparel21/sync/concurrent-writes.test.ts', 'a sync page does not overwrite a newer write'],
    ],
    [
      87,
      'A PUT clears missing fields while another user edits the person',
      ['apparel21/writes/customer-changes.test.ts', 'a change clears nothing that it omits'],
      ['apparel21/writes/customer-changes.test.ts', 'a concurrent back office change between read and write is kept'],
      ['apparel21/sync/concurrent-writes.test.ts', 'a sync page does not overwrite a newer write'],
    ],
    [
      88,
      'The back office is available intermittently',
      ['apparel21/faults/timing.test.ts', 'an unstable back office is probed singly and never yields wrong data'],
      ['apparel21/client/failures.test.ts', 'at most a tenth of the calls during an outage are retries'],
    ],
    [
      89,
      'The same page repeats forever, or pages are repeated or shuffled',
      ['apparel21/faults/answers.test.ts', 'repeated or shuffled pages fail the sync and keep the list'],
      ['apparel21/client/paging.test.ts', 'shuffled pages are detected'],
    ],
    [
      90,
      'The back office clock is an hour off',
      ['apparel21/faults/timing.test.ts', 'a back office clock an hour off loses no change'],
    ],
    [
      91,
      'The back office returns 429 or 503 with Retry-After',
      ['apparel21/faults/timing.test.ts', 'a short Retry-After is waited out; a long one stops calls'],
    ],
    [
      221,
      'The back office is slow, hangs or loses responses while carts are priced',
      ['apparel21/writes/quotes.test.ts', '64 clients get quotes from a slow, hanging and failing back office'],
    ],
    [
      222,
      'The response to the reservation of a coupon is lost, cut off or never comes',
      ['apparel21/writes/coupons.test.ts', 'a lost response is resolved by the request, never rejected'],
    ],
    [
      223,
      '64 clients reserve one coupon while the back office fails',
      ['apparel21/writes/coupons.test.ts', 'one of 64 clients gets a coupon despite back-office failures'],
    ],
    [
      224,
      'A quote is forged, expired, or differs from its order',
      ['drivers/quotes.ts', 'an order that differs from its quote is rejected'],
      ['drivers/quotes.ts', 'an expired quote is rejected'],
    ],
    [
      225,
      'A process is killed during the reservation or release of a coupon, or before its order',
      ['apparel21/writes/coupons-killed.test.ts', 'a coupon is redeemed once if its reservation is killed at …'],
      [
        'apparel21/writes/coupons-killed.test.ts',
        'clients and kills between reservation and order redeem each coupon once',
      ],
      ['apparel21/writes/coupons-killed.test.ts', 'a coupon is free if its release is killed at …'],
    ],
    [
      226,
      'A client never repeats the reservation of a coupon whose response was lost',
      ['apparel21/writes/coupons.test.ts', 'a reservation in doubt is released if its client never repeats it'],
      [
        'apparel21/writes/coupons-killed.test.ts',
        'workers release a coupon after a killed reservation without a retry',
      ],
    ],
    [
      227,
      'A single line of a return is cancelled, or its status is an unknown word',
      ['apparel21/sync/returns.test.ts', 'a single cancelled line releases its units and leaves the return'],
      ['apparel21/sync/returns.test.ts', 'an unknown status word keeps the status and raises one alert'],
    ],
    [
      228,
      'The syncs of shipments and returns are killed',
      ['apparel21/sync/states-killed.test.ts', '… shipments and returns are published once per state despite kills'],
      ['apparel21/sync/returns.test.ts', 'a run continues with the returns that an interrupted run left'],
    ],
  ],
}
