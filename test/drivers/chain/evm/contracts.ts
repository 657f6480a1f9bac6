/** Contracts that tests pay with; the source below is compiled on first use. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

contract Tether {
  uint8 public constant decimals = 6;
  mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Issue(uint256 amount);

  constructor() {
    balanceOf[msg.sender] = 1e18;
    emit Issue(1e18);
  }

  /// Returns nothing, like the transfer of USDT.
  function transfer(address to, uint256 value) public {
    balanceOf[msg.sender] -= value;
    balanceOf[to] += value;
    emit Transfer(msg.sender, to, value);
  }

  function transferEach(address[] calldata to, uint256 value) external {
    for (uint256 i = 0; i < to.length; i++) transfer(to[i], value);
  }

  /// Logs that look like token transfers but are not.
  function pretend(address to) external {
    bytes32 topic = keccak256('Transfer(address,address,uint256)');
    assembly {
      mstore(0, 1000000)
      log4(0, 32, topic, caller(), to, 7)
      log3(0, 0, topic, caller(), to)
      log3(0, 64, topic, caller(), to)
      log2(0, 32, topic, to)
    }
  }
}

contract Eighteen {
  uint8 public constant decimals = 18;
}

contract Bomb {
  constructor() payable {}
  function blow(address payable heir) external { selfdestruct(heir); }
}

contract Payer {
  function split(address payable[] calldata to) external payable {
    // A precompiled contract, which some nodes leave out of their traces.
    ecrecover(bytes32(0), 27, bytes32(uint256(1)), bytes32(uint256(1)));
    for (uint256 i = 0; i < to.length; i++) pay(to[i], msg.value / to.length);
  }

  function carefully(address payable to) external payable {
    try this.payAndFail{value: msg.value}(to) { revert(); } catch {}
  }

  function payAndFail(address payable to) external payable {
    pay(to, msg.value);
    revert();
  }

  /// A different amount in each block, like a swap at the current price.
  function byHeight(address payable to) external payable {
    pay(to, msg.value - block.number);
  }

  function bequeath(address payable heir) external payable {
    (new Bomb{value: msg.value}()).blow(heir);
  }

  /// Gives away the whole balance; the contract itself stays.
  function leave(address payable heir) external payable {
    selfdestruct(heir);
  }

  function pay(address payable to, uint256 value) private {
    (bool paid, ) = to.call{value: value}('');
    require(paid);
  }
}
`;

export interface Contract {
  readonly bytecode: string;
  /** Returns the calldata of a call to this function. */
  call(name: string, ...args: readonly Argument[]): string;
}

type Argument = string | bigint | readonly string[];

interface Compiled {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: {
    readonly pay: Readonly<
      Record<
        string,
        { readonly evm: { bytecode: { object: string }; methodIdentifiers: Record<string, string> } }
      >
    >;
  };
}

let compiled: Compiled | undefined;

export function contract(name: 'Tether' | 'Eighteen' | 'Payer'): Contract {
  compiled ??= compile();
  const { evm } = compiled.contracts.pay[name] ?? assert.fail(`no contract ${name}`);
  const selectors = new Map(
    Object.entries(evm.methodIdentifiers).map(([signature, selector]) => [signature.split('(')[0], selector]),
  );
  return {
    bytecode: evm.bytecode.object,
    call: (method, ...args) => {
      const selector = selectors.get(method) ?? assert.fail(`no function ${method}`);
      return `0x${selector}${encoded(args)}`;
    },
  };
}

/** Loads the compiler lazily, because it is large. */
function compile(): Compiled {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { pay: { content: SOURCE } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Compiled;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  assert.deepEqual(
    errors.map(({ formattedMessage }) => formattedMessage),
    [],
  );
  return output;
}

/** Encodes addresses, whole numbers, and lists of addresses. */
function encoded(args: readonly Argument[]): string {
  const tails: string[] = [];
  let tailAt = args.length * 32;
  const heads = args.map((arg) => {
    if (typeof arg === 'bigint') return word(arg);
    if (typeof arg === 'string') return word(BigInt(arg));
    const tail = [word(BigInt(arg.length)), ...arg.map((address) => word(BigInt(address)))];
    const at = tailAt;
    tails.push(...tail);
    tailAt += tail.length * 32;
    return word(BigInt(at));
  });
  return [...heads, ...tails].join('');
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/**
 * A contract that forwards its value to the given address and then makes 3,500 calls with 10 KiB of data
 * each: with little more than half a million gas its trace is 70 MiB long.
 */
export const WORDY = (() => {
  const pay = '6000600060006000346000355af150';
  const count = '610dac';
  const start = (pay.length + count.length) / 2;
  const call = '600060006128006000600060ff5af150';
  const code = `${pay}${count}5b${call}600190038060${start.toString(16)}5700`;
  const size = (code.length / 2).toString(16);
  // The constructor returns the code after these eleven bytes.
  return `60${size}80600b6000396000f3${code}`;
})();
