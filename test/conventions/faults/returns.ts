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
        'an unknown order is 404, and unavailable during an outage',
      ],
    ],
    [
      47,
      'The back office is away while it alone knows the order',
      [
        'apparel21/writes/returns.test.ts',
        'an unknown order is 404, and unavailable during an outage',
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
        'upstream rejections have stable codes and quote the original code',
      ],
    ],
    [
      50,
      'The outcome of a return is unknown',
      [
        'apparel21/writes/returns.test.ts',
        'a return with a lost response is unknown until its repeat',
      ],
      [
        'apparel21/writes/settling.test.ts',
        'an unknown return keeps its units reserved against other returns',
      ],
      ['apparel21/writes/settling.test.ts', 'reconciliation never creates a return that did not arrive'],
      [
        'apparel21/writes/received-returns.test.ts',
        'a lost return whose lines are already marked is found later',
      ],
    ],
    [
      51,
      'SKUs differ in their case only',
      ['api/orders/returnable.test.ts', 'two SKUs that differ only in case are distinct'],
      ['import/import.test.ts', 'identifiers that differ in case are distinct'],
      [
        'import/made-up-data.test.ts',
        'generated data is imported completely and listed as in the file',
      ],
    ],
    [
      52,
      'Some of it came back in a store already',
      ['apparel21/writes/received-returns.test.ts', 'items already returned another way cannot be returned again'],
    ],
  ],
}
