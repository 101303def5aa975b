import type { Section } from './fault.ts'

export const vouchers: Section = {
  title: 'Vouchers',
  cases: [
    [
      19,
      'Two clients lock one voucher concurrently',
      ['api/vouchers/locks.test.ts', 'one of several clients locking concurrently holds the voucher'],
    ],
    [
      20,
      '20 clients try 20 times each for one lock',
      ['api/vouchers/locks.test.ts', '20 retrying clients never hold a voucher at the same time'],
      ['api/requests/concurrency.test.ts', '20 clients retrying for one voucher hold it one at a time'],
    ],
    [
      21,
      'The holder repeats the lock',
      ['api/vouchers/locks.test.ts', 'a repeat with its key is replayed; without, it renews the lock'],
    ],
    [
      22,
      'A lock expires before its holder uses it',
      ['api/vouchers/locks.test.ts', 'an expired lock is free immediately and its holder is rejected afterwards'],
      ['apparel21/vouchers/locking.test.ts', 'a lock expires by the database clock and its holder is rejected'],
    ],
    [
      23,
      'A client validates a voucher that another client holds',
      ['apparel21/vouchers/locking.test.ts', 'a locked voucher causes no back office validation for other clients'],
      ['apparel21/writes/lease-lost.test.ts', "a late validation does not end the new holder's lock: …"],
    ],
    [
      24,
      "The holder's process is killed while another client tries to lock the voucher",
      ['apparel21/writes/crashes.test.ts', 'a lock by … killed at … belongs only to its repeat'],
      ['runtime/crashes.test.ts', 'a voucher whose lock is killed at … can be tried immediately'],
    ],
    [
      25,
      "The machine's clock is two hours off",
      ['faults/clocks.test.ts', 'a clock that … does not affect locks, repeats, reads or jobs'],
    ],
    [
      26,
      'A lock names a wrong validation ID',
      [
        'api/vouchers/validation.test.ts',
        'a wrong validation ID and an unknown number are indistinguishable and throttled',
      ],
      ['apparel21/vouchers/locking.test.ts', 'validation IDs are unguessable and bound to one voucher and service'],
    ],
    [
      27,
      'One account locks more vouchers than its limit',
      ['api/vouchers/locks.test.ts', 'an account can hold at most 1,000 vouchers'],
      ['api/vouchers/locks.test.ts', 'a lock lasts 1 to 86400 seconds, and 0 releases any'],
    ],
    [
      28,
      'Many PINs are tried on one voucher',
      ['api/vouchers/vouchers.test.ts', 'five wrong PINs block the right one for a growing time'],
      ['api/vouchers/vouchers.test.ts', 'PIN guessing raises an alert, also for an unknown number'],
    ],
    [
      29,
      'One PIN is tried on many numbers',
      ['api/vouchers/vouchers.test.ts', 'an address that tries many numbers is blocked until the minute ends'],
      ['api/vouchers/shoppers.test.ts', 'a guessing shopper is blocked without blocking other shoppers of the account'],
      ['api/vouchers/shoppers.test.ts', "a client that fakes many addresses is blocked by the account's limit"],
      ['api/vouchers/shoppers.test.ts', 'a voucher counts its wrong PINs across shoppers'],
    ],
    [
      30,
      'Response times differ between an unknown number and a wrong PIN',
      ['api/access/guessing.test.ts', 'rejecting an unknown voucher number takes as long as a wrong PIN'],
      ['api/vouchers/vouchers.test.ts', 'an unknown number, wrong PIN and foreign number get the same response'],
    ],
    [
      31,
      'A PIN is sent in the URL',
      ['api/vouchers/vouchers.test.ts', 'a PIN in the URL is rejected by name'],
      ['api/vouchers/validation.test.ts', 'a PIN in the URL of a write is rejected without repetition'],
    ],
    [
      32,
      'A million numbers and PINs are generated, including a taken one',
      ['api/vouchers/issue.test.ts', 'a million numbers and PINs are uniform, unique and unordered'],
      ['api/vouchers/issue.test.ts', 'a taken number is generated again'],
    ],
    [
      33,
      'PINs and numbers have leading zeros, whitespace or 50 characters',
      ['api/vouchers/vouchers.test.ts', 'a number and PIN must match exactly'],
    ],
    [
      34,
      'Amounts are negative, zero, too precise, too large, not strings or in another currency',
      [
        'api/vouchers/issue-errors.test.ts',
        "an amount must be a positive, plausible string with the currency's decimals",
      ],
      ['api/vouchers/validation.test.ts', "a validation amount must be a positive string with the currency's decimals"],
      ['api/vouchers/validation.test.ts', 'a voucher in a foreign currency is shown but unusable'],
    ],
    [
      35,
      'A voucher is sold without configuration',
      ['api/vouchers/issue-errors.test.ts', 'each missing setting is named and nothing is created'],
      ['apparel21/vouchers/sales.test.ts', "missing configuration is named, first our own, then the back office's"],
    ],
    [
      36,
      'A payment gateway is unknown or similar to a known one',
      ['api/vouchers/issue-errors.test.ts', 'a gateway must match a configured one exactly'],
    ],
    [
      37,
      'A name, address or subject contains line breaks or second addresses',
      ['api/vouchers/issue-errors.test.ts', 'an email header contains no line break or second address'],
      ['runtime/jobs/mail.test.ts', 'a name or subject … adds no header or recipient'],
      ['runtime/jobs/mail.test.ts', 'an address … receives nothing'],
    ],
    [
      38,
      'A voucher is spent, expired, suspended, not issued or in another currency',
      ['api/vouchers/validation.test.ts', 'an unusable voucher can be looked up but neither validated nor locked'],
      ['apparel21/vouchers/opening.test.ts', 'each voucher problem has its own error'],
    ],
    [
      39,
      'The back office returns the number and PIN only later',
      ['apparel21/vouchers/sales.test.ts', 'a voucher is sold as an order and pending until its email'],
    ],
  ],
}
