import type { Section } from './fault.ts'

export const returns: Section = {
  title: 'Returns',
  cases: [
    [
      40,
      'A return names a SKU missing from the order',
      ['api/orders/field-errors.test.ts', 'all SKUs missing from the order are reported and nothing is created'],
    ],
    [
      41,
      'A return has valid and invalid lines',
      ['api/orders/field-errors.test.ts', 'all SKUs missing from the order are reported and nothing is created'],
      ['api/orders/field-errors.test.ts', 'all errors of a return are reported at once, its own first'],
    ],
    [
      42,
      'Two returns of two of three sold units arrive concurrently',
      [
        'api/orders/returnable.test.ts',
        'one of two conflicting returns succeeds; the other gets the remaining quantity',
      ],
    ],
    [
      43,
      'Quantities are zero, negative, fractional, beyond 2^53 or strings',
      ['api/orders/field-errors.test.ts', 'an invalid order shape is 400 and a broken rule 422'],
    ],
    [
      44,
      'A SKU is repeated in one return',
      ['api/orders/returnable.test.ts', 'several lines of one SKU in a body are added up'],
    ],
    [
      45,
      "A return names another service's order",
      ['api/orders/returns.test.ts', 'a return for an unknown or foreign order gets the same 404'],
    ],
    [
      46,
      'A return names an unknown order',
      ['api/orders/returns.test.ts', 'a return for an unknown or foreign order gets the same 404'],
      ['apparel21/writes/returns.test.ts', 'an unknown order is 404, and unavailable during an outage'],
    ],
    [
      47,
      'The back office is unavailable and is the only source of the order',
      ['apparel21/writes/returns.test.ts', 'an unknown order is 404, and unavailable during an outage'],
    ],
    [
      48,
      'A double click sends a return twice without a key',
      ['api/orders/returnable.test.ts', 'a double click without a key is checked against the remaining quantity'],
    ],
    [
      49,
      'The back office rejects a return',
      ['apparel21/writes/returns.test.ts', 'upstream rejections have stable codes and quote the original code'],
    ],
    [
      50,
      'The outcome of a return is unknown',
      ['apparel21/writes/returns.test.ts', 'a return with a lost response is unknown until its repeat'],
      ['apparel21/writes/reconcile.test.ts', 'an unknown return keeps its units reserved against other returns'],
      ['apparel21/writes/reconcile.test.ts', 'reconciliation never creates a return that did not arrive'],
      ['apparel21/writes/received-returns.test.ts', 'a lost return whose lines are already marked is found later'],
    ],
    [
      51,
      'SKUs differ only in case',
      ['api/orders/returnable.test.ts', 'two SKUs that differ only in case are distinct'],
      ['import/import.test.ts', 'identifiers that differ in case are distinct'],
      ['import/generated-data.test.ts', 'generated data is imported completely and listed as in the file'],
    ],
    [
      52,
      'Some items were already returned in a store',
      ['apparel21/writes/received-returns.test.ts', 'items already returned another way cannot be returned again'],
    ],
  ],
}
