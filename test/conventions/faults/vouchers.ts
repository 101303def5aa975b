import type { Section } from './fault.ts'

export const vouchers: Section = {
  title: 'Vouchers',
  cases: [
    [
      19,
      'Two clients lock one voucher at once',
      [
        'api/vouchers/locks.test.ts',
        'of clients that lock at once one holds the voucher, and the others are told that it is locked',
      ],
    ],
    [
      20,
      '20 clients try 20 times each for one lock',
      ['api/vouchers/locks.test.ts', 'of 20 clients with 20 tries each never two hold a voucher at the same time'],
      [
        'api/requests/concurrency.test.ts',
        'of 20 clients who try 20 times each for one voucher, one holds it at any time',
      ],
    ],
    [
      21,
      'The holder repeats the lock',
      [
        'api/vouchers/locks.test.ts',
        'a repeat with its key is the same answer; without a key the same validation renews',
      ],
    ],
    [
      22,
      'A lock runs out, and its holder comes late',
      [
        'api/vouchers/locks.test.ts',
        'a lock that has run out is free at once, and its holder is refused once another validates',
      ],
      [
        'apparel21/vouchers/holding.test.ts',
        'a lock that has run out is free, by the clock of the database, and its holder is refused',
      ],
    ],
    [
      23,
      'Somebody validates while another one holds the voucher',
      [
        'apparel21/vouchers/holding.test.ts',
        'while somebody holds a voucher nobody asks the back office for a validation, and the holder is not disturbed',
      ],
      [
        'apparel21/writes/taken-over.test.ts',
        'a validation that comes too late does not end the lock of whoever had the voucher meanwhile: …',
      ],
    ],
    [
      24,
      'The process of who holds a voucher is killed, and another one tries to hold it',
      [
        'apparel21/writes/crashes.test.ts',
        'a voucher whose lock by … is killed at … is held by nobody else, and by its holder once the lock is repeated',
      ],
      [
        'runtime/crashes.test.ts',
        "a voucher whose lock is killed at … is at once another one's to try for: held where the lock was committed, free where it was not",
      ],
    ],
    [
      25,
      'The clock of our machine is two hours off',
      ['faults/clocks.test.ts', '… holds vouchers, repeats writes, reads lists and does jobs as the other one does'],
    ],
    [
      26,
      'A lock names a validation that is wrong',
      [
        'api/vouchers/validation.test.ts',
        'a wrong validation id and an unknown number are one and the same answer, and too many are told to wait',
      ],
      [
        'apparel21/vouchers/holding.test.ts',
        'validation ids cannot be guessed without being noticed, and are those of one voucher and one service',
      ],
    ],
    [
      27,
      'One account locks more vouchers than it may',
      ['api/vouchers/locks.test.ts', 'an account holds at most 1,000 vouchers at a time'],
      ['api/vouchers/locks.test.ts', 'a lock lasts from 1 to 86400 seconds, and 0 gives back what is held or not'],
    ],
    [
      28,
      'PIN after PIN is tried on one voucher',
      ['api/vouchers/vouchers.test.ts', 'after five wrong PINs the right one is refused too, for a while that grows'],
      ['api/vouchers/vouchers.test.ts', 'a voucher that refuses is an alert, and so is a number that there is not'],
    ],
    [
      29,
      'One PIN is tried on number after number',
      [
        'api/vouchers/vouchers.test.ts',
        'an address that tries one number after the other is refused until the minute ends, the right PIN too',
      ],
      [
        'api/vouchers/shoppers.test.ts',
        'a shopper who guesses is refused, and the other shoppers of the same back end are not',
      ],
      [
        'api/vouchers/shoppers.test.ts',
        'who lies with many addresses is refused by the limit of the account, and nobody else is',
      ],
      ['api/vouchers/shoppers.test.ts', 'a voucher counts its wrong PINs whoever the shopper is'],
    ],
    [
      30,
      'An unknown number and a wrong PIN are told apart by the time of the answer',
      ['api/access/guessing.test.ts', 'an unknown number cannot be told from a wrong PIN by time'],
      [
        'api/vouchers/vouchers.test.ts',
        'an unknown number, a wrong PIN and the number of another service are one and the same answer',
      ],
    ],
    [
      31,
      'A PIN is sent in the URL',
      ['api/vouchers/vouchers.test.ts', 'a PIN in the URL is refused by name'],
      ['api/vouchers/validation.test.ts', 'a PIN in the URL of a write is refused by name and not repeated'],
    ],
    [
      32,
      'A million numbers and PINs are drawn, and one that is taken',
      ['api/vouchers/issue.test.ts', 'a million numbers and PINs are even, without a repeat and without an order'],
      ['api/vouchers/issue.test.ts', 'a number that is taken is drawn anew'],
    ],
    [
      33,
      'PINs and numbers with leading zeros, blanks, 50 characters',
      ['api/vouchers/vouchers.test.ts', 'number and PIN are taken to the letter'],
    ],
    [
      34,
      'Amounts are negative, zero, too fine, too large, no text, in another currency',
      [
        'api/vouchers/issue-faults.test.ts',
        'an amount is text with the decimals of the currency, more than nothing and not beyond reason',
      ],
      ['api/vouchers/validation.test.ts', 'an amount is text with the decimals of the currency, and more than nothing'],
      ['api/vouchers/validation.test.ts', 'a voucher in another currency than the service is shown, and not used'],
    ],
    [
      35,
      'A voucher is sold where nothing is configured',
      ['api/vouchers/issue-faults.test.ts', 'each setting that is missing is named, and nothing is made'],
      [
        'apparel21/vouchers/sales.test.ts',
        'what is not configured is named, in the service before the back office is asked, and in the back office',
      ],
    ],
    [
      36,
      'A payment gateway is unknown, or only looks like one',
      ['api/vouchers/issue-faults.test.ts', 'a gateway is one of those that there are, to the letter'],
    ],
    [
      37,
      'Line breaks and second addresses in a name, an address, a subject',
      ['api/vouchers/issue-faults.test.ts', 'no line break or second address gets into the head of an e-mail'],
      ['runtime/jobs/mail.test.ts', 'a name or subject … adds no header and no receiver'],
      ['runtime/jobs/mail.test.ts', 'an address … gets nothing'],
    ],
    [
      38,
      'A voucher is spent, expired, suspended, not issued, in another currency',
      ['api/vouchers/validation.test.ts', 'a voucher that cannot be used is looked up, and neither validated nor held'],
      ['apparel21/vouchers/opening.test.ts', 'each thing that is the matter with a voucher has its answer'],
    ],
    [
      39,
      'The back office gives number and PIN only later',
      [
        'apparel21/vouchers/sales.test.ts',
        'a voucher is sold as an order, is pending, and opens once its e-mail has come from the back office',
      ],
    ],
  ],
}
