import type { Section } from './fault.ts'

export const returns: Section = {
  title: 'Returns',
  cases: [
    [
      40,
      'A return names a SKU that is not on the order',
      ['api/orders/faults.test.ts', 'all SKUs missing from the order are reported and nothing is created'],
    ],
    [
      41,
      'A return has good and bad lines',
      ['api/orders/faults.test.ts', 'all SKUs missing from the order are reported and nothing is created'],
      ['api/orders/faults.test.ts', 'all errors of a return are reported at once, its own first'],
    ],
    [
      42,
      'Two returns of two out of three sold come at once',
      [
        'api/orders/returnable.test.ts',
        'one of two conflicting returns succeeds; the other gets the remaining quantity',
      ],
    ],
    [
      43,
      'Quantities are zero, negative, broken, beyond 2^53, text',
      ['api/orders/faults.test.ts', 'an invalid order shape is 400 and a broken rule 422'],
    ],
    [
      44,
      'A SKU stands twice in one return',
      ['api/orders/returnable.test.ts', 'several lines of one SKU in a body are added up'],
    ],
    [
      45,
      'A return names an order of another tenant',
      ['api/orders/returns.test.ts', 'a return for an unknown or foreign order gets the same 404'],
    ],
    [
      46,
      'A return names an order that there is not',
      ['api/orders/returns.test.ts', 'a return for an unknown or foreign order gets the same 404'],
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
      ['api/orders/returnable.test.ts', 'a double click without a key is checked against the remaining quantity'],
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
      ['api/orders/returnable.test.ts', 'two SKUs that differ only in case are distinct'],
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
