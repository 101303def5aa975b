import type { Section } from './fault.ts'

export const access: Section = {
  title: 'Sign-in and tenants',
  cases: [
    [
      126,
      'No credentials',
      ['api/access/sign-in.test.ts', 'without credentials, or with what are none, the answer says how to sign in'],
    ],
    [
      127,
      'Credentials that are none: without colon, of another scheme, of 64 KB',
      ['api/access/sign-in.test.ts', 'without credentials, or with what are none, the answer says how to sign in'],
      ['api/access/sign-in.test.ts', 'the scheme may be in any case'],
      ['api/requests/methods.test.ts', 'there are at most 100 headers, of 16 KiB'],
    ],
    [
      128,
      'Base64 with what does not belong in it',
      ['api/access/sign-in.test.ts', 'without credentials, or with what are none, the answer says how to sign in'],
    ],
    [
      129,
      'Colons, accents, control characters in a password',
      ['api/access/sign-in.test.ts', 'the first colon ends the username, and what follows is compared as UTF-8'],
    ],
    [
      130,
      'Two headers `Authorization`',
      ['api/access/sign-in.test.ts', 'of headers that may be sent once, two are refused, even two that are the same'],
    ],
    [
      131,
      'Two headers `X-Service-Name`',
      ['api/access/sign-in.test.ts', 'of headers that may be sent once, two are refused, even two that are the same'],
    ],
    [
      132,
      'A service that is missing, empty, in another case, in letters that look alike',
      [
        'api/access/tenants.test.ts',
        'a service that is not assigned and one that there is not are one and the same answer',
      ],
      ['api/access/sign-in.test.ts', 'without credentials, or with what are none, the answer says how to sign in'],
    ],
    [
      133,
      "The name of another tenant's service",
      [
        'api/access/tenants.test.ts',
        'a service that is not assigned and one that there is not are one and the same answer',
      ],
    ],
    [
      134,
      'Identifiers of another tenant, of every kind, in every operation: path, query and body',
      [
        'api/access/matrix.test.ts',
        "another tenant's identifier, of whatever kind and at whatever place, is answered like one that nobody has",
      ],
      [
        'api/access/tenants.test.ts',
        "another service's record is not found, in the very words for one that there is not",
      ],
      ['api/access/tenants.test.ts', "another service's codes and addresses find nothing"],
    ],
    [
      135,
      'A password is revoked, or rotated',
      ['runtime/start-workers.test.ts', 'a revocation is in force in every process within 5 seconds'],
      [
        'api/access/accounts.test.ts',
        'after a rotation two passwords are live, after the next one the oldest has ended',
      ],
    ],
    [
      136,
      'A thousand wrong passwords on one account',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted for all servers, and beyond 20 refused with the time to wait',
      ],
      ['api/access/guessing.test.ts', 'an address that tries one name after the other is refused beyond 200'],
    ],
    [
      137,
      'An unknown username and a wrong password are told apart by time',
      ['api/access/guessing.test.ts', 'an unknown username cannot be told from a wrong password by time'],
    ],
    [
      138,
      'A secret of another length',
      ['api/access/sign-in.test.ts', 'an unknown username and a wrong password are one and the same answer'],
    ],
    [
      139,
      'Hundreds of wrong sign-ins a second',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted for all servers, and beyond 20 refused with the time to wait',
      ],
      [
        'api/requests/crowding.test.ts',
        'wrong sign-ins without a pause, from many addresses, do not hold up who signs in rightly',
      ],
    ],
    [
      140,
      'Many tenants at once on few connections, among errors',
      ['api/access/tenants.test.ts', 'answers of several services at once never mix, also among errors'],
    ],
    [
      141,
      'A query without a tenant',
      [
        'api/access/matrix.test.ts',
        'no operation is carried out for nobody: without the name of a service, whatever else comes with it, nothing is told and nothing done',
      ],
    ],
    [
      142,
      'A role of the database that may pass its policies',
      [
        'api/access/database-roles.test.ts',
        "by a role of the database that …, another service's record is not found, and cannot be written to",
      ],
    ],
    [
      143,
      'A child that points to a parent of another tenant',
      ['api/access/tenants.test.ts', "a child cannot point to another service's parent"],
    ],
    [
      144,
      'The same code in two tenants',
      ['api/access/tenants.test.ts', 'the same identifiers, codes and addresses stand in every service'],
    ],
    [
      145,
      'An error of the database',
      ['runtime/outages.test.ts', 'an unexpected fault tells the request id alone'],
      [
        'api/customers/erasure.test.ts',
        'a fault of the database that nobody has foreseen is logged without the row that it is about',
      ],
    ],
    [
      146,
      'One tenant asks for far more than it may',
      ['api/requests/rates.test.ts', 'each account has its own, of each service'],
      [
        'api/requests/crowding.test.ts',
        'who asks for far more than it may is told to wait, and another tenant is answered meanwhile',
      ],
    ],
    [
      147,
      'A body sets what the service keeps itself',
      ['api/customers/fields.test.ts', 'fields that the service keeps itself, and unknown ones, are refused by name'],
    ],
    [
      148,
      'Every role at every operation',
      [
        'api/access/matrix.test.ts',
        'each operation is refused to the roles that it is documented to be refused to, and to no other',
      ],
    ],
    [
      149,
      'A port for admins, default passwords, open documents',
      ['telemetry/metrics.test.ts', 'nothing but the figures is told there, and nothing of them elsewhere'],
      ['runtime/start.test.ts', 'the first start prints the address, user, password, service, and where the docs are'],
      ['runtime/start.test.ts', 'a demo account that was revoked stays so'],
    ],
  ],
}
