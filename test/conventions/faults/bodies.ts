import type { Section } from './fault.ts'

export const bodies: Section = {
  title: 'Bodies and fields',
  cases: [
    [
      171,
      'Bodies that are too long, never end, lie about their length',
      ['api/requests/bodies.test.ts', 'a body of 256 KiB is taken, one byte more is not, with and without a length'],
      [
        'api/requests/bodies.test.ts',
        'a body that is announced too long, or never ends, is refused early and its connection closed',
      ],
      ['api/requests/bodies.test.ts', 'a body shorter than its length makes nothing'],
    ],
    [
      172,
      'The bad and the odd cases that JSON parsers are tried with',
      ['api/requests/json.test.ts', '… is no JSON that can be taken'],
      ['api/requests/json-cases.test.ts', 'all that has to be read is read, and refused by its shape'],
      ['api/requests/json-cases.test.ts', 'all that is no JSON is not read'],
      [
        'api/requests/json-cases.test.ts',
        'of what parsers may read or not, a text that can be kept is read, a number that cannot is not',
      ],
    ],
    [
      173,
      'A body nested 100,000 deep',
      ['api/requests/json.test.ts', '32 levels are read, and then refused by the shape'],
      ['api/requests/json.test.ts', '… is no JSON that can be taken'],
    ],
    [
      174,
      'A hundred thousand names, a million values',
      ['api/requests/json.test.ts', 'many names and many values are judged at once'],
    ],
    [175, 'A name that stands twice', ['api/requests/json.test.ts', '… is no JSON that can be taken']],
    [176, '`__proto__` and `constructor`', ['api/requests/json.test.ts', '… is no JSON that can be taken']],
    [
      177,
      'Numbers that lose something when they are read',
      ['api/requests/json.test.ts', '… is no JSON that can be taken'],
      ['api/requests/json.test.ts', 'what looks odd and is JSON is taken'],
    ],
    [
      178,
      'Null, a number, an array where a text belongs',
      ['api/requests/json.test.ts', 'nothing is taken for what it looks like, and no field is dropped'],
    ],
    [
      179,
      'A field that nobody knows',
      ['api/requests/json.test.ts', 'nothing is taken for what it looks like, and no field is dropped'],
      ['api/customers/fields.test.ts', 'fields that the service keeps itself, and unknown ones, are refused by name'],
    ],
    [
      180,
      'NUL anywhere',
      [
        'api/customers/texts.test.ts',
        'control characters, half characters and marks that turn the line are refused in every field',
      ],
      ['api/requests/json.test.ts', 'a text that nobody can read or store is refused where it stands'],
    ],
    [
      181,
      'Half characters, and bytes that are no UTF-8',
      ['api/requests/json.test.ts', 'a text that nobody can read or store is refused where it stands'],
      ['api/customers/texts.test.ts', 'bytes that are no UTF-8, and no JSON, create nobody'],
    ],
    [182, 'A byte order mark before a body', ['api/requests/json.test.ts', 'what looks odd and is JSON is taken']],
    [
      183,
      'Emoji, right-to-left, composed and decomposed letters, thousands of marks',
      ['api/customers/texts.test.ts', 'what people and places are called comes back to the byte'],
      ['api/customers/texts.test.ts', 'composed and decomposed letters are not taken for each other'],
      [
        'api/customers/texts.test.ts',
        'control characters, half characters and marks that turn the line are refused in every field',
      ],
    ],
    [
      184,
      'Odd texts in every field of every write',
      [
        'api/access/odd-texts.test.ts',
        'odd texts in every text field of every write are stored as they are or refused in words, and never a fault',
      ],
      ['api/customers/texts.test.ts', 'texts at random, in every field, are stored as they are or refused'],
    ],
    [
      185,
      'SQL, XML, templates, line breaks as text',
      ['apparel21/writes/customers.test.ts', 'texts that mean something to XML arrive as they are'],
      ['apparel21/writes/orders.test.ts', 'texts that mean something to XML arrive as they are'],
      ['api/requests/requests.test.ts', 'wildcards and quotes are letters like any other'],
    ],
    [
      186,
      'Formulas in the CSV that we write; in JSON and NDJSON they stay texts like any other',
      [
        'import/rejected.test.ts',
        'a cell that a spreadsheet would take for a formula has an apostrophe in front, which is not imported',
      ],
      ['import/rejected.test.ts', 'a tab and a carriage return are no way around it, nor is the name of a column'],
      ['api/customers/texts.test.ts', 'what people and places are called comes back to the byte'],
    ],
    [
      187,
      'HTML in a name',
      ['runtime/jobs/mail.test.ts', 'what is written in names and message stays text in the HTML'],
    ],
    [
      188,
      'E-mail addresses at their limits, quoted, with accents, with two @',
      ['api/customers/fields.test.ts', 'an e-mail address can be written to without quotes'],
      ['import/identifiers.test.ts', 'an e-mail address is judged by the same rule in a file and in a body'],
      ['api/customers/writes.test.ts', 'one e-mail address is of one customer, however it is written'],
    ],
    [
      189,
      'Dates of birth that cannot be',
      ['api/customers/fields.test.ts', 'a date of birth is a day of the calendar from 1900 to today'],
      ['api/customers/fields.test.ts', 'tomorrow is later where the sun rises first'],
    ],
    [
      190,
      'Telephone numbers that are absent, letters, 40 digits',
      ['api/customers/fields.test.ts', 'a telephone number has digits and what stands between them'],
      ['api/customers/writes.test.ts', 'a name and an e-mail address are enough for a customer'],
    ],
    [
      191,
      'A subscription together with privacy',
      ['api/customers/consent.test.ts', 'subscribing overrides privacy, whatever the body says'],
    ],
    [
      192,
      '`updateTimeStamp` in a change',
      ['api/customers/fields.test.ts', 'fields that the service keeps itself, and unknown ones, are refused by name'],
      ['api/customers/sent-back.test.ts', 'what was read can be sent back as a whole, its time stamp apart'],
    ],
    [
      193,
      'A customer without mobile number and date of birth',
      ['api/customers/writes.test.ts', 'a name and an e-mail address are enough for a customer'],
    ],
    [
      194,
      'Two changes of one customer at once',
      ['api/customers/at-once.test.ts', 'two changes at once lose no field of each other'],
      ['api/customers/changes.test.ts', 'any two changes at once end as one after the other does'],
    ],
    [
      195,
      'Twenty create one e-mail address at once',
      ['api/customers/at-once.test.ts', 'of twenty who create a customer with one e-mail address at once, one does'],
    ],
    [
      196,
      'Wildcards and quotes in a look-up',
      ['api/requests/requests.test.ts', 'wildcards and quotes are letters like any other'],
    ],
    [
      197,
      'A buffer beyond the stock, stock below nothing, a store without a mapping',
      ['drivers/reads.ts', 'stock is that of the back office, less the buffer, and an unknown SKU is not found'],
      [
        'runtime/demo.test.ts',
        'some stock is sold out and some is owed, some stores have no location and two share one',
      ],
      [
        'api/mappings/stores.test.ts',
        'a store that is mapped is shown with its location, by itself and in all of its inventory',
      ],
    ],
    [
      198,
      'The extremes of the real data',
      ['import/real-data.test.ts', 'the oddities of the British shop are counted as published'],
      ['import/made-up-data.test.ts', 'the oddities of a made-up shop are counted as it was made'],
      ['import/real-data.test.ts', 'the import refuses four lines, those of a tenth of a penny, and writes them out'],
    ],
  ],
}
