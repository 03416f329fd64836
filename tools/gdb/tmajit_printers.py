"""Pretty printers of tmajit's values for gdb. Load them by

    (gdb) source tools/gdb/tmajit_printers.py

or by that line in ~/.gdbinit. They support libstdc++'s containers. KernelPlan and Plan are only shown in full if the
library was compiled with -g.
"""

import gdb
import gdb.printing


def array(value, count):
    """The first `count` numbers of a std::array."""
    return [int(value["_M_elems"][i]) for i in range(int(count))]


def vector(value):
    first, last = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    return [(first + i).dereference() for i in range(int(last - first))]


def view_text(value):
    return value["_M_str"].string(length=int(value["_M_len"]))


def enumerator(value):
    return str(value).rsplit("::", 1)[-1]


def tuple_text(numbers):
    return "(" + ", ".join(map(str, numbers)) + ")"


def extents_text(numbers):
    return "x".join(map(str, numbers))


class Dims:
    """{8, 512, 16, 64}"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "{" + ", ".join(map(str, array(self.value["numbers_"], self.value["size_"]))) + "}"


class TensorView:
    """f32 (512, 1024), with the strides unless the view is dense and row-major"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        rank = self.value["rank"]
        shape, strides = array(self.value["shape"], rank), array(self.value["strides"], rank)
        dense, expected = 1, []
        for extent in reversed(shape):
            expected.insert(0, dense)
            dense *= extent
        text = f"{enumerator(self.value['type'])} {tuple_text(shape)}"
        return text if strides == expected else f"{text} strides {tuple_text(strides)}"


class Tensor:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{TensorView(self.value['view']).to_string()} at {int(self.value['address']):#x}"


class KernelChoice:
    """transpose tile=64x64 threads=256"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        words = [view_text(self.value["family"])]
        for number in vector(self.value["numbers"]):
            values = array(number["values"], 8)
            while len(values) > 1 and values[-1] == 0:
                values.pop()
            words.append(f"{view_text(number['name'])}={extents_text(values)}")
        return " ".join(words)


class LaunchShape:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        text = f"grid {extents_text(array(self.value['grid'], 3))}, block {extents_text(array(self.value['block'], 3))}"
        cluster = array(self.value["cluster"], 3)
        text += f", cluster {extents_text(cluster)}" if cluster != [1, 1, 1] else ""
        return text + (f", {int(self.value['shared_bytes'])} bytes shared" if int(self.value["shared_bytes"]) else "")


def state_of(value):
    """The state that a handle points to; None if it is null or has no debug information."""
    pointer = value["state_"]["_M_ptr"]
    if int(pointer) == 0:
        return None
    state = pointer.dereference()
    return state if state.type.fields() else None  # a type that is only declared has no fields


class KernelPlan:
    """transpose: grid 8x16x1, block 256x1x1"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        state = state_of(self.value)
        if state is None:
            return "KernelPlan"
        key = state["key"]  # begins with the family's name and a NUL
        family = key["_M_dataplus"]["_M_p"].string("latin-1", length=int(key["_M_string_length"])).split("\0")[0]
        return f"{family}: {LaunchShape(state['launch_shape']).to_string()}"


class Plan:
    """Plan of 2 kernels, with the kernels' plans as children"""

    def __init__(self, value):
        self.state = state_of(value)

    def to_string(self):
        if self.state is None:
            return "Plan"
        count = len(vector(self.state["plans"]))
        return f"Plan of {count} kernel" + ("" if count == 1 else "s")

    def children(self):
        for i, plan in enumerate(vector(self.state["plans"]) if self.state is not None else []):
            yield f"[{i}]", plan


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("tmajit")
    for printer in (Dims, TensorView, Tensor, KernelChoice, LaunchShape, KernelPlan, Plan):
        collection.add_printer(printer.__name__, rf"^tmajit::(v\d+_\d+::)?{printer.__name__}$", printer)
    return collection


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
