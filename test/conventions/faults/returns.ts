import type { Section } from './fault.ts'

export const returns: Section = {
  title: 'Returns',
  cases: [
    [
      40,
      'A return names a SKU that is not on the order',
      [
        'api/orders/faults.test.ts',
        'SKUs that are not on the order are all named, and nothing is created, the good lines included',
      ],
    ],
    [
      41,
      'A return has good and bad lines',
      [
        'api/orders/faults.test.ts',
        'SKUs that are not on the order are all named, and nothing is created, the good lines included',
      ],
      ['api/orders/faults.test.ts', 'all faults of a return are told at once, what is wrong in itself first'],
    ],
    [
      42,
      'Two returns of two out of three sold come at once',
      [
        'api/orders/returnable.test.ts',
        'two returns of two out of three sold at once: one is made, the other is told what is left',
      ],
    ],
    [
      43,
      'Quantities are zero, negative, broken, beyond 2^53, text',
      ['api/orders/faults.test.ts', 'what breaks the shape is 400, what breaks a rule is 422, each with its place'],
    ],
    [
      44,
      'A SKU stands twice in one return',
      ['api/orders/returnable.test.ts', 'the same SKU in several lines of one body is added up'],
    ],
    [
      45,
      'A return names an order of another tenant',
      [
        'api/orders/returns.test.ts',
        'an order that there is not and one of another service are one and the same answer, whatever the return says',
      ],
    ],
    [
      46,
      'A return names an order that there is not',
      [
        'api/orders/returns.test.ts',
        'an order that there is not and one of another service are one and the same answer, whatever the return says',
      ],
      [
        'apparel21/writes/returns.test.ts',
        'an order that there is not is not found; while the back office is away nobody knows',
      ],
    ],
    [
      47,
      'The back office is away while it alone knows the order',
      [
        'apparel21/writes/returns.test.ts',
        'an order that there is not is not found; while the back office is away nobody knows',
      ],
    ],
    [
      48,
      'A double click without a key',
      ['api/orders/returnable.test.ts', 'a double click without a key is judged by what is left'],
    ],
    [
      49,
      'The back office refuses a return',
      [
        'apparel21/writes/returns.test.ts',
        'what the back office refuses all the same has stable codes, with its own in the words',
      ],
    ],
    [
      50,
      'The outcome of a return is unknown',
      [
        'apparel21/writes/returns.test.ts',
        'a return whose answer is lost is an unknown outcome, and its repeat is that return',
      ],
      [
        'apparel21/writes/settling.test.ts',
        'a return whose answer is lost keeps its units, and no other return of the order gets between',
      ],
      ['apparel21/writes/settling.test.ts', 'a return that never arrived is not made by following it up'],
      [
        'apparel21/writes/received-returns.test.ts',
        'a return whose answer is lost, and whose lines head office then marks as returned, is that return to its repeat, and to whoever follows it up',
      ],
    ],
    [
      51,
      'SKUs differ in their case only',
      ['api/orders/returnable.test.ts', 'SKUs that differ in their case only are two'],
      ['import/import.test.ts', 'identifiers that differ in case are two'],
      [
        'import/made-up-data.test.ts',
        'a made-up shop is imported line for line, but for a tenth of a penny, and its lists say what the file says',
      ],
    ],
    [
      52,
      'Some of it came back in a store already',
      ['apparel21/writes/received-returns.test.ts', 'what came back some other way is not returned again'],
    ],
  ],
}
